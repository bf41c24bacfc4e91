package cmd

import (
	"errors"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// plainError returns the message of an error for people, line by line: without the procedure that
// the command called, which helps only in logs, and without a kind of error that only repeats what
// the sentence tells.
func plainError(err error) []string {
	lines := strings.Split(err.Error(), "\n")
	for n, line := range lines {
		line = wording.WithoutProcedure(line)
		if errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrUsage) { // "invalid: want …" in front of the reason
			invalid := fault.ErrInvalid.Error() + ": "
			line = strings.Replace(strings.TrimPrefix(line, invalid), ": "+invalid, ": ", 1)
		}
		lines[n] = wording.WithoutKind(line)
	}
	return lines
}
