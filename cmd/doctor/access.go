package doctor

import "leasehold/shared/fault"

// Access returns a warning for each line of a coordinator about its clients; nothing if no coordinator runs. err is why
// the coordinator could not be asked.
func Access(lines []string, err error) (found []Finding) {
	if err != nil {
		return []Finding{{Check: "access", State: Warn, What: "the coordinator of this folder does not answer: " + fault.Reason(err), Advice: "leasehold status"}}
	}
	for _, line := range lines {
		found = append(found, Finding{Check: "access", State: Warn, What: line, Advice: "docs/security.md"})
	}
	return found
}
