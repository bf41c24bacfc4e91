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
		found = append(found, Finding{Check: check, State: Warn, What: i.Severity.String() + ": " + i.Text, Advice: i.Command})
	}
	return found
}
