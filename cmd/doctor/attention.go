package doctor

import (
	"leasehold/models"
	"leasehold/shared/fault"
)

// Attention returns a warning for each attention item of the coordinator that runs on the folder; nothing if none runs.
// err is why the coordinator could not be asked.
func Attention(items []models.Attention, err error) (found []Finding) {
	const check = "coordinator"
	if err != nil {
		return []Finding{{Check: check, State: Warn, What: "the coordinator of this folder does not answer: " + fault.Reason(err), Advice: "leasehold status"}}
	}
	for _, i := range items {
		found = append(found, itemFinding(check, i))
	}
	return found
}

// itemFinding is the finding of a check that an attention item tells: a failure if it stops work, else a warning.
func itemFinding(check string, i models.Attention) Finding {
	x := Finding{Check: check, State: Warn, What: i.Text, Advice: i.Command}
	if i.Severity == models.StopsWork {
		x.State = Fail
	}
	if i.Detail != "" {
		x.What += ". " + i.Detail
	}
	return x
}
