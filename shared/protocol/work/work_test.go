package work_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/work"
	"leasehold/shared/protocol/work/worktest"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProtocolsInProcess(t *testing.T) { worktest.Exercise(t, worktest.Direct) }

func TestProtocolsInPebble(t *testing.T) {
	worktest.ExerciseOn(t, worktest.Direct, func(t testing.TB) journal.Journal {
		j, err := pebble.Open(pebble.Config{Dir: "journal", FS: vfs.NewMem()})
		require.NoError(t, err)
		return j
	})
}

func TestProtocolsEncoded(t *testing.T) { worktest.Exercise(t, worktest.Encoded) }

func TestFault23QueueTTLMustBeShorterThanTheLease(t *testing.T) {
	t.Parallel()
	good := work.Policy{
		Task: task.Policy{MaxAttempts: 1, Backoff: 1}, LeaseTTL: time.Hour, QueueTTL: time.Hour - 1, Ingest: 1,
	}
	require.NoError(t, good.Check())
	for name, spoil := range map[string]func(*work.Policy){
		"as long":           func(p *work.Policy) { p.QueueTTL = time.Hour },
		"longer":            func(p *work.Policy) { p.QueueTTL = 2 * time.Hour },
		"no queue TTL":      func(p *work.Policy) { p.QueueTTL = 0 },
		"negative TTLs":     func(p *work.Policy) { p.QueueTTL, p.LeaseTTL = -2, -1 },
		"an endless lease":  func(p *work.Policy) { p.LeaseTTL = lease.MaxTTL + 1 },
		"no attempts":       func(p *work.Policy) { p.Task.MaxAttempts = 0 },
		"no back-off":       func(p *work.Policy) { p.Task.Backoff = 0 },
		"no time to ingest": func(p *work.Policy) { p.Ingest = 0 },
	} {
		bad := good
		spoil(&bad)
		require.ErrorIs(t, bad.Check(), fault.ErrInvalid, name)
	}
}
