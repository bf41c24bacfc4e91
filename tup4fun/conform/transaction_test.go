package conform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

// leaseLog is a log with a lease and its task. settings is the tuple of the event settings, none if empty; the lease
// ends leaseDue and the task taskDue after the grant, and the extension moves the lease's end to extended.
func leaseLog(settings string, leaseDue, taskDue, extended int) string {
	const (
		lease  = `"space":"lease","tuple":"(\"lease\", \"l1\", \"m-1\", \"s\", \"\", 5, 1)","lease":"l1","ref":1,"result":"ok"`
		task   = `"space":"task","tuple":"(\"task\", \"dig\", \"t1\", \"l1\", 1, 0, \"{}\")","lease":"l1","ref":2`
		result = `"space":"result","tuple":"(\"result\", \"dig\", \"s\", \"\", \"l1\", 1, \"w-1\", false, \"{}\")","lease":"l1","ref":4`
		claim  = `"space":"lease","tuple":"(\"claim\", \"t1\", \"w-1\", 0, 1)","ref":3`
		m      = `"process":"m-1","role":"m",`
		w      = `"process":"w-1","role":"w",`
	)
	lines := []string{`"clock":0,"process":"","operation":"reload","space":"","result":"ok"`}
	if settings != "" {
		lines = append(lines, fmt.Sprintf(`"clock":0,"process":"","operation":"settings","space":"","tuple":%q,"result":"ok"`, settings))
	}
	lines = append(lines,
		`"clock":1,`+m+`"operation":"begin","space":"","result":"ok"`,
		`"clock":1,`+w+`"operation":"begin","space":"","result":"ok"`,
		fmt.Sprintf(`"clock":100,%s"procedure":"work.issue","operation":"put",%s,"due":%d`, m, lease, 100+leaseDue),
		fmt.Sprintf(`"clock":100,%s"procedure":"work.issue","operation":"put",%s,"result":"ok","due":%d`, m, task, 100+taskDue),
		fmt.Sprintf(`"clock":110,%s"procedure":"task.claim","operation":"hold",%s,"result":"ok","due":500`, w, task),
		`"clock":110,`+w+`"procedure":"task.claim","operation":"put",`+claim+`,"result":"ok"`,
		fmt.Sprintf(`"clock":110,%s"procedure":"task.claim","operation":"replace",%s,"result":"ok","due":500`, w, task),
		`"clock":120,`+w+`"procedure":"task.report","operation":"put",`+result+`,"result":"ok"`,
		fmt.Sprintf(`"clock":120,%s"procedure":"task.report","operation":"hold",%s,"result":"ok","due":510`, w, task),
		`"clock":130,`+m+`"procedure":"work.next","operation":"hold",`+result+`,"result":"ok","due":600`,
		`"clock":140,`+m+`"procedure":"work.ingested","operation":"done",`+result+`,"result":"ok"`,
		fmt.Sprintf(`"clock":140,%s"procedure":"work.ingested","operation":"replace",%s,"due":%d`, m, lease, 100+leaseDue),
		fmt.Sprintf(`"clock":140,%s"procedure":"work.ingested","operation":"replace",%s,"due":%d`, m, lease, extended))
	var log strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&log, `{"seq":%d,%s}`+"\n", i+1, line)
	}
	return log.String()
}

// TestAStepIsPartOfOneTransaction puts an event of another session into the extension of a lease, at the same time.
func TestAStepIsPartOfOneTransaction(t *testing.T) {
	t.Parallel()
	var lines []string
	for line := range strings.Lines(leaseLog("", 1000, 300, 1140)) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "}\n"), ",")
		lines = append(lines, rest)
	}
	const put = `"clock":140,"process":"w-1","role":"w","operation":"put","space":"other","tuple":"(1)","ref":9,"result":"ok"`
	for at, want := range map[int]conform.Outcome{11: conform.Conforms, 13: conform.Violates, 14: conform.Conforms} {
		r := checkLines(t, "lease", slices.Insert(slices.Clone(lines), at, put))
		require.Equal(t, want, r.Outcome, "%s %+v", r.Reason, r.Violation)
		if want == conform.Violates {
			require.Contains(t, r.Violation.Why, "the transaction is over, but the step that the instance began is incomplete")
		}
	}
}

// TestATransactionIsWhole checks logs of a session whose first heartbeat and end leave something out.
func TestATransactionIsWhole(t *testing.T) {
	t.Parallel()
	const (
		serves = `"space":"status","tuple":"(\"serves\", \"w-1\", \"dig\", 1)","ref":1,"result":"ok"`
		state  = `"space":"status","tuple":"(\"w-1\", \"idle\", \"t\")","ref":2,"result":"ok"`
		beat   = `"clock":2,"process":"w-1","role":"w","procedure":"status.beat","operation":"put",`
		take   = `"clock":3,"process":"","operation":"take",`
	)
	lines := []string{
		`"clock":0,"process":"","operation":"reload","space":"","result":"ok"`,
		`"clock":1,"process":"w-1","role":"w","operation":"begin","space":"","result":"ok"`,
		beat + serves, beat + state,
		`"clock":3,"process":"w-1","role":"w","operation":"end","space":"","result":"lost"`,
		take + serves, take + state,
		`"clock":4,"process":"w-2","role":"w","operation":"begin","space":"","result":"ok"`,
	}
	r := checkLines(t, "status", lines)
	require.Equal(t, conform.Conforms, r.Outcome, "%s %+v", r.Reason, r.Violation)
	for line, why := range map[int]string{3: "State holds no tuple", 5: "Serves still holds a tuple", 6: "State still holds a tuple"} {
		r := checkLines(t, "status", slices.Delete(slices.Clone(lines), line, line+1))
		require.Equal(t, conform.Violates, r.Outcome, line)
		require.Equal(t, "the transaction is over, but "+why, r.Violation.Why)
	}
}

// checkLines checks a log, whose lines have no numbers, against a model of the system.
func checkLines(t *testing.T, model string, lines []string) *conform.Report {
	t.Helper()
	var log strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&log, `{"seq":%d,%s}`+"\n", i+1, line)
	}
	c, err := conform.LoadProtocol(model, conform.Options{})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(log.String()))
	require.NoError(t, err)
	return r
}

func TestATupleLastsAsLongAsTheSettingsOfTheLogTell(t *testing.T) {
	t.Parallel()
	const told = `("max-attempts", 3, "lease-ttl", 1000, "queue-ttl", 300)`
	for _, c := range []struct {
		name, settings              string
		leaseDue, taskDue, extended int
		why                         string // "": it conforms
	}{
		{"as told", told, 1000, 300, 1140, ""},
		{"a log of an older version", `("max-attempts", 3)`, 900, 200, 1000, ""},
		{"a log without settings", "", 900, 200, 1000, ""},
		{"a short lease", told, 985, 300, 1140, "lasts 985ns from here, but lease-ttl is 1µs"},
		{"a long wait", told, 1000, 301, 1140, "lasts 301ns from here, but queue-ttl is 300ns"},
		{"a short extension", told, 1000, 300, 1125, "lasts 985ns from here, but lease-ttl is 1µs"},
	} {
		checker, err := conform.LoadProtocol("lease", conform.Options{})
		require.NoError(t, err)
		r, err := checker.Check(t.Context(), "t.jsonl", strings.NewReader(leaseLog(c.settings, c.leaseDue, c.taskDue, c.extended)))
		require.NoError(t, err)
		if c.why == "" {
			require.Equal(t, conform.Conforms, r.Outcome, "%s: %s %+v", c.name, r.Reason, r.Violation)
			require.Equal(t, 9, r.Explained)
			continue
		}
		require.Equal(t, conform.Violates, r.Outcome, c.name)
		require.Contains(t, r.Violation.Why, c.why, c.name)
	}
}
