package conform_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

// TestAReloadAfterMissingEventsIsDecided loses the events in which one worker claims a task and reports its result, and a
// manager takes it. Each of 64 workers and 64 managers of the model could have done it.
func TestAReloadAfterMissingEventsIsDecided(t *testing.T) {
	t.Parallel()
	const task = `"clock":1,"process":"m-1","role":"m","operation":"put","procedure":"work.issue","space":"task",` +
		`"tuple":"(\"task\", \"a\", \"t1\", \"l1\", 1, 5, \"{}\")","lease":"l1","ref":2,"result":"ok"`
	const result = `"clock":1,"process":"m-1","role":"m","operation":"restore","space":"result",` +
		`"tuple":"(\"result\", \"a\", \"s\", \"p\", \"l1\", 1, \"w-1\", true, \"\")","lease":"l1","ref":3,"result":"held"`
	issued := granted("put", "work.issue", "l1", "s", 1)
	restored := strings.Replace(granted("restore", "", "l1", "s", 1), `"process":"m-1","role":"m"`, `"process":""`, 1)
	lines := append(append([]string(nil), begun...), issued, task, begun[0], begun[1], restored, result)
	r := judgedBy(t, "lease", numbered(lines...), conform.Options{Search: 2000})
	require.Equal(t, conform.Conforms, r.Outcome, r.Reason)
}
