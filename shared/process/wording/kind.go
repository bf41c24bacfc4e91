package wording

import (
	"regexp"
	"strings"

	"leasehold/shared/fault"
)

var (
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	negation   = regexp.MustCompile(`\b(?:no|not|never|nothing)\b`)
)

// WithoutKind returns a message without the kind of error at its end, if the rest is a sentence that
// tells as much: `it has no files: not found`, but not `task "t1": not found`.
func WithoutKind(message string) string {
	for _, kind := range []error{fault.ErrInvalid, fault.ErrUsage, fault.ErrConflict, fault.ErrNotFound} {
		sentence, found := strings.CutSuffix(message, ": "+kind.Error())
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
	return message
}
