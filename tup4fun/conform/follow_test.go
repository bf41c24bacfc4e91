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
