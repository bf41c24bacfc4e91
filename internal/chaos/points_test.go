//go:build linux

package chaos

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The tests kill processes at each failpoint in the source, so each durable step needs a
// failpoint before and after it.
func TestEachDurableStepHasAFailpointOnEitherSide(t *testing.T) {
	t.Parallel()
	there := points(t, "shared/space", "coordinator", "manager", "worker")
	for step, sides := range map[string][]string{
		"append to a file":           {"append.before", "append.after"},
		"sync of a file":             {"sync.before", "sync.after"},
		"removal of a file":          {"remove.before", "remove.after"},
		"commit":                     {"commit.before", "commit.after"},
		"call: claim, revoke, reply": {"call.before", "call.after", "reply.after"},
		"ingest of a result":         {"ingest.before", "ingest.stored", "ingest.after"},
		"outcome of a visit":         {"outcome.stored"},
		"expiry":                     {"expiry.before", "expiry.after"},
		"snapshot":                   {"flush.before", "flush.after"},
		"compaction":                 {"compaction.before", "compaction.after"},
		"recovery":                   {"recovery.before", "recovery.loaded", "recovery.fact", "recovery.after"},
	} {
		require.Subset(t, there, sides, step)
	}
}
