package coordinator_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

func TestLeaseOfKnowsTheTuplesThatNameOne(t *testing.T) {
	t.Parallel()
	for want, named := range map[string]tuple.Tuple{
		"l1": lease.Encode(models.Lease{ID: "l1", Holder: "manager-1", Subject: "s"}),
		"l3": task.EncodeResult(task.ResultTuple{Action: "a", Subject: "s", Part: "p", Lease: "l3"}),
		"":   tuple.New("dead", "l4", "l5", "l6"),
	} {
		require.Equal(t, want, trace.LeaseOf(named))
	}
	named, _ := task.EncodeNew(task.Item{Lease: "l2", Task: models.Task{ID: "t1", Action: "a"}})
	require.Equal(t, "l2", trace.LeaseOf(named))
	require.Empty(t, trace.LeaseOf(tuple.New("task")), "a tuple that is not a task of ours names none")
	require.Empty(t, trace.LeaseOf(nil))
}

// section returns the text below a heading of docs/trace.md, up to the next one.
func section(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/trace.md")
	require.NoError(t, err)
	_, below, found := strings.Cut(string(page), "\n## "+heading+"\n")
	require.True(t, found, heading)
	text, _, _ := strings.Cut(below, "\n## ")
	return text
}

// firstCells returns the words in backquotes in the first column of a table.
func firstCells(text string) (words []string) {
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(text, -1) {
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			words = append(words, word[1])
		}
	}
	return words
}

func TestTheTracePageNamesEveryFieldAndNoOther(t *testing.T) {
	t.Parallel()
	var fields []string
	for f := range reflect.TypeFor[trace.Event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	require.Equal(t, fields, firstCells(section(t, "Fields")))
}

func TestTheTracePageNamesEveryOperationAndNoOther(t *testing.T) {
	t.Parallel()
	want := []string{trace.Reload, trace.Settings, trace.Restore, trace.Begin, trace.Hide, trace.End, trace.Expire, trace.Ack, trace.Call}
	for _, v := range []space.Verb{space.VerbPut, space.VerbPutP, space.VerbGet, space.VerbGetP, space.VerbGetAll, space.VerbQuery, space.VerbQueryP, space.VerbQueryAll, space.VerbGetUpTo, space.VerbQueryUpTo, space.VerbCreate} {
		want = append(want, v.String())
	}
	for _, c := range []space.Change{space.Take, space.Replace, space.Hold, space.Back, space.Done} {
		want = append(want, string(c))
	}
	require.ElementsMatch(t, want, firstCells(section(t, "Operations")))
}

func TestTheExampleOfTheTracePageIsALog(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(section(t, "Example"), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	n := 0
	require.NoError(t, trace.Read(strings.NewReader(text), func(trace.Event) error { n++; return nil }))
	require.Greater(t, n, 5)
}
