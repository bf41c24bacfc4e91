package attention

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/task"
)

// groupsOf groups dead letters of one action with errors.
func groupsOf(errors ...string) *deadGroups {
	all := &deadGroups{byKey: map[string]*deadGroup{}, letters: map[string][]deadLetter{}}
	for n, e := range errors {
		l := task.Listed{Dead: true, Reason: e}
		l.ID, l.Action = fmt.Sprint("t", n), "resize"
		all.add(l)
	}
	return all
}

func TestTheTextThatSelectsAGroupSelectsNoOtherDeadLetter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		errors []string // the group is that of the first
		text   string
		found  bool
	}{
		"all of the action":        {[]string{"exit 1", "exit 2"}, "", true},
		"the words of its error":   {[]string{"Disk full after 1 ms", "Disk full after 2 ms", "no route"}, "disk full after", true},
		"words behind an id":       {[]string{"1: no such host", "2: no such host", "3: refused"}, "no such host", true},
		"another has all of it":    {[]string{"exit 1", "exit 2", "exit 1: killed"}, "", false},
		"the same number in each":  {[]string{"exit 17", "exit 17", "exit"}, "exit 17", true},
		"control characters":       {[]string{"a\x1b[2Jb 1", "a\x1b[2Jb 2", "other"}, "", false},
		"an error of 1,000 bytes":  {[]string{fmt.Sprintf("%01000d", 1), fmt.Sprintf("%01000d", 2), "other"}, fmt.Sprintf("%0120d", 0), true},
		"characters of two bytes":  {[]string{"\u00e4\u00f61 1", "\u00e4\u00f61 2", "x"}, "äö", true},
		"quotes":                   {[]string{"can't open it: 1", "can't open it: 2", "x"}, "can't open it", true},
		"users and passwords":      {[]string{"https://a:b@h/1", "https://a:b@h/2", "x"}, "", false},
		"no reason in two letters": {[]string{"", "", "x"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := groupsOf(c.errors...)
			text, found := all.selecting(all.letters["resize"][0].group)
			require.Equal(t, c.found, found, "%q", text)
			require.Equal(t, c.text, text)
			all.more = true
			_, found = all.selecting(all.letters["resize"][0].group)
			require.False(t, found, "not all were read")
		})
	}
}
