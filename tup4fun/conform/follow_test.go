package conform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

func TestACheckThatFollowsGoesOnAtTheNextReload(t *testing.T) {
	t.Parallel()
	grant := func(n int) string { return granted("put", "lease.grant", fmt.Sprint("l", n), "s", n) }
	var lines []string
	for n := range 3 { // the item is leased twice, and after that a lease is revoked that does not exist
		lines = append(lines, begun...)
		lines = append(lines, grant(10*n+1), grant(10*n+2), granted("take", "lease.revoke", "l9", "s", 9))
	}
	var deviations []int
	c, err := conform.LoadProtocol("lease", conform.Options{Deviates: func(r *conform.Report) { deviations = append(deviations, r.Violation.Line) }})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(numbered(lines...)))
	require.NoError(t, err)
	require.Equal(t, []int{4, 9, 14}, deviations)
	require.Equal(t, conform.Violates, r.Outcome)
	require.Equal(t, 4, r.Violation.Line, "the first one is reported at the end")
	r, err = c.Check(t.Context(), "t.jsonl", strings.NewReader(numbered(append(begun, grant(1))...)))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "nothing of the first log is left in the second")
}

// TestACheckThatFollowsForgetsWhatHasEnded grants and revokes more leases than are remembered, and a result comes late
// for the first one.
func TestACheckThatFollowsForgetsWhatHasEnded(t *testing.T) {
	t.Parallel()
	const leases = 10_050
	lines := append([]string(nil), begun...)
	for n := range leases {
		lease := fmt.Sprint("l", n)
		lines = append(lines, granted("put", "lease.grant", lease, "s", n+1), granted("take", "lease.revoke", lease, "s", n+1))
	}
	late := `"clock":1,"process":"m-1","role":"m","operation":"put","procedure":"task.report","space":"result",` +
		`"tuple":"(\"result\", \"a\", \"s\", \"p\", \"l0\", 1, \"m-1\", false, \"\")","lease":"l0","ref":20000,"result":"ok"`
	lines = append(lines, late)
	c, err := conform.LoadProtocol("lease", conform.Options{Deviates: func(r *conform.Report) { require.NoError(t, errorOf(r)) }})
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(numbered(lines...)))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome)
	require.Equal(t, 10_000, r.Instances)
}

// followed checks lines that are numbered already with the lease model. It returns the reasons why the model waited for a
// reload, and how many times it went on.
func followed(t *testing.T, o conform.Options, log string) (reasons []string, resumed int) {
	t.Helper()
	o.Deviates = func(r *conform.Report) {
		reason := r.Reason
		if r.Violation != nil {
			reason = r.Violation.Why
		}
		reasons = append(reasons, reason)
	}
	o.Resumes = func(model string) {
		require.Equal(t, "lease", model)
		resumed++
	}
	c, err := conform.LoadProtocol("lease", o)
	require.NoError(t, err)
	_, err = c.Check(t.Context(), "t.jsonl", strings.NewReader(log))
	require.NoError(t, err)
	return reasons, resumed
}

func TestACheckThatFollowsGoesOnAfterMissingEventsAtTheNextReload(t *testing.T) {
	t.Parallel()
	grant := func(n int) string { return granted("put", "lease.grant", fmt.Sprint("l", n), fmt.Sprint("s", n), n) }
	wrong := granted("take", "lease.revoke", "l9", "s", 9)
	lines := append(append(append([]string(nil), begun...), grant(1), grant(2), wrong), begun...)
	lines = append(lines, grant(3), wrong)
	all := strings.SplitAfter(numbered(lines...), "\n")
	cut := strings.Join(all[:3], "") + strings.Join(all[4:], "") // the second grant is missing
	reasons, resumed := followed(t, conform.Options{}, cut)
	require.Len(t, reasons, 2)
	require.Contains(t, reasons[0], "events are missing")
	require.Contains(t, reasons[1], "ref 9 is not in lease", "what is wrong behind the reload is found")
	require.Equal(t, 1, resumed)

	reasons, resumed = followed(t, conform.Options{}, strings.Join(all[3:], "")) // the log does not begin with a reload
	require.Len(t, reasons, 2)
	require.Contains(t, reasons[0], "want a reload first")
	require.Equal(t, 1, resumed)
}

func TestACheckThatFollowsWaitsWhileThereAreTooManyTuples(t *testing.T) {
	t.Parallel()
	lines := append([]string(nil), begun...)
	for n := range 20 {
		lines = append(lines, granted("put", "lease.grant", fmt.Sprint("l", n), fmt.Sprint("s", n), n+1))
	}
	lines = append(lines, begun...)
	reasons, resumed := followed(t, conform.Options{Tuples: 10}, numbered(lines...))
	require.Equal(t, []string{"the log has too many tuples at once"}, reasons)
	require.Equal(t, 1, resumed)
}

// A log without its beginning has results of leases that ended before.
func TestACheckThatBeginsInTheMiddleKnowsThatLeasesEndedBefore(t *testing.T) {
	t.Parallel()
	late := `"clock":1,"process":"m-1","role":"m","operation":"put","procedure":"task.report","space":"result",` +
		`"tuple":"(\"result\", \"a\", \"s\", \"p\", \"l0\", 1, \"m-1\", false, \"\")","lease":"l0","ref":20000,"result":"ok"`
	lines := append(append(append([]string(nil), begun...), begun...), late)
	all := strings.SplitAfter(numbered(lines...), "\n")
	reasons, _ := followed(t, conform.Options{}, strings.Join(all[len(begun):], ""))
	require.Empty(t, reasons)
}
