package conform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

// leases returns the lines of a log in which n leases are granted and revoked.
func leases(n int) (lines []string) {
	lines = append(lines, begun...)
	for i := range n {
		lease := fmt.Sprint("l", i)
		lines = append(lines, granted("put", "lease.grant", lease, "s", i+1), granted("take", "lease.revoke", lease, "s", i+1))
	}
	return lines
}

func TestALogThatIsCutAtAnyByteConformsOrIsRefused(t *testing.T) {
	t.Parallel()
	log := numbered(leases(3)...)
	c, err := conform.LoadProtocol("lease", conform.Options{})
	require.NoError(t, err)
	for n := range log {
		r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(log[:n]))
		if n < strings.IndexByte(log, '\n') {
			if err != nil {
				require.ErrorIs(t, err, conform.ErrNoLog, "at byte %d", n)
				continue
			}
		}
		require.NoError(t, err, "at byte %d", n)
		require.NotEqual(t, conform.Violates, r.Outcome, "at byte %d", n)
		isWhole := n == 0 || log[n-1] == '\n' || log[n] == '\n' // a line may lack its line feed
		require.Equal(t, !isWhole, r.Torn, "at byte %d", n)
	}
}

func TestALogOfANewerVersionDoesNotViolate(t *testing.T) {
	t.Parallel()
	field := strings.ReplaceAll(numbered(leases(2)...), `"result":"ok"`, `"result":"ok","shard":{"n":[1]}`)
	require.Equal(t, conform.Conforms, judgedBy(t, "lease", field, conform.Options{}).Outcome, "further fields are left out")
	for name, line := range map[string]string{
		"lease.split":     granted("put", "lease.split", "l9", "t", 9),
		"operation merge": granted("merge", "lease.revoke", "l1", "s", 2),
	} {
		r := judgedBy(t, "lease", numbered(append(leases(1), granted("put", "lease.grant", "l1", "s", 2), line)...), conform.Options{})
		require.Equal(t, conform.Incomplete, r.Outcome, name)
		require.Equal(t, "lease does not know "+name, r.Reason)
	}
}

func TestLogsOfTwoCoordinatorsInOneAreNotTakenForOne(t *testing.T) {
	t.Parallel()
	one := strings.SplitAfter(numbered(leases(3)...), "\n")
	c, err := conform.LoadProtocol("lease", conform.Options{})
	require.NoError(t, err)
	var both strings.Builder
	for _, line := range one {
		both.WriteString(line + line)
	}
	_, err = c.Check(t.Context(), "t.jsonl", strings.NewReader(both.String()))
	require.ErrorIs(t, err, conform.ErrNoLog)
	require.ErrorContains(t, err, "seq 1 follows seq 1: there is a gap, or lines are out of order")

	// If the lines are numbered again, the log contradicts itself.
	var lines []string
	for _, line := range leases(3) {
		lines = append(lines, line, line)
	}
	r := judgedBy(t, "lease", numbered(lines...), conform.Options{})
	require.Equal(t, conform.Violates, r.Outcome)
	require.Contains(t, r.Violation.Why, "the log contradicts itself")
}

// The model knows after a restart how many attempts the coordinator allows then.
func TestSettingsThatChangeAtARestartAreFollowed(t *testing.T) {
	t.Parallel()
	restart := func(attempts int) []string {
		return []string{begun[0], fmt.Sprintf(`"clock":0,"process":"","operation":"settings","space":"","tuple":"(\"max-attempts\", %d)","result":"ok"`, attempts), begun[1]}
	}
	lines := append(restart(3), leases(2)[2:]...)
	lines = append(append(lines, restart(1)...), leases(4)[6:]...)
	lines = append(append(lines, restart(200)...), leases(6)[10:]...)
	for _, model := range conform.Protocols() {
		r := judgedBy(t, model, numbered(lines...), conform.Options{})
		require.NotEqual(t, conform.Violates, r.Outcome, model)
		require.Equal(t, 3, r.Reloads, model)
	}
}
