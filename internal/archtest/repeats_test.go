package archtest

import (
	"strings"
	"testing"
)

// TestNoCommentRepeatsItself finds sentences of five words or more that stand twice in one
// comment, because an edit was applied twice.
func TestNoCommentRepeatsItself(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		for _, group := range s.ast.Comments {
			text := strings.Join(strings.Fields(commentText(group)), " ")
			seen := map[string]bool{}
			for sentence := range strings.SplitSeq(text, ". ") {
				sentence = strings.TrimSuffix(sentence, ".")
				if strings.Count(sentence, " ") < 4 {
					continue
				}
				if seen[sentence] {
					t.Errorf("%s:%d: the comment has this twice: %q", s.path, s.line(group.Pos()), sentence)
				}
				seen[sentence] = true
			}
		}
	}
}
