package cmd

import (
	"errors"
	"regexp"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/wording"
)

var (
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	negation   = regexp.MustCompile(`\b(?:no|not|never|nothing)\b`)
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
		lines[n] = withoutKind(line)
	}
	return lines
}

// withoutKind returns a line without the kind of error at its end, if the rest is a sentence that
// tells as much: `it has no files: not found`, but not `task "t1": not found`.
func withoutKind(line string) string {
	for _, kind := range []error{fault.ErrInvalid, fault.ErrUsage, fault.ErrConflict, fault.ErrNotFound} {
		sentence, found := strings.CutSuffix(line, ": "+kind.Error())
		if !found {
			continue
		}
		words := quotedText.ReplaceAllLiteralString(sentence, "…")
		tellsAsMuch := len(strings.Fields(words)) > 3
		if kind == fault.ErrNotFound {
			tellsAsMuch = negation.MatchString(words)
		}
		if tellsAsMuch {
			return sentence
		}
	}
	return line
}
