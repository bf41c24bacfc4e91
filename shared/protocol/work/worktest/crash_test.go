package worktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/space/journal"
)

// crash stops the engine when it commits op, before the journal has the record, or
// after if durable is true, and starts another engine. Calls to the stopped engine get
// no answer.
func (f *fixture) crash(durable bool, op func()) {
	synctest.Wait()
	dead := make(chan struct{})
	die := func(context.Context, []journal.Record) error { <-dead; return errors.New("dead") }
	if durable {
		f.journal.After = die
	} else {
		f.journal.Before = die
	}
	go op()
	synctest.Wait()
	f.journal.Before, f.journal.After = f.record, nil
	f.start()
	f.closers = append(f.closers, func() { close(dead); synctest.Wait() })
}

// runCrashing runs a scenario in which the engine crashes.
func runCrashing(t *testing.T, run func(f *fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t, Direct, policy)
		defer f.close()
		run(f)
	})
}

func TestFault04AClaimWhoseAnswerIsLostInACrashIsClaimableOnceMore(t *testing.T) {
	runCrashing(t, func(f *fixture) {
		w, m := f.worker("worker-1", 1), f.manager("manager-1")
		m.issue(toDig("site"), 0)
		f.crash(true, func() { _, _ = w.task.Claim(context.Background(), dig) })
		w2 := f.worker("worker-2", 1)
		_, early := w2.tryClaim()
		require.False(f, early, "the claim is durable")
		f.pass(sessionTTL)
		i := w2.claim()
		require.EqualValues(f, 1, i.Attempts, "counted once")
		require.NoError(f, w2.report(i, "", true))
		f.manager("manager-2").ingestResult()
		require.Equal(f, 1, f.total(lease.Revoked))
	})
}

func TestFault05ACrashBetweenIngestAndRevokeKeepsTheResult(t *testing.T) {
	for name, durable := range map[string]bool{"before the revoke is durable": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			runCrashing(t, func(f *fixture) {
				w, m := f.worker("worker-1", 1), f.manager("manager-1")
				m.issue(toDig("site"), 0)
				require.NoError(f, w.report(w.claim(), "", true))
				r := m.holdResult() // and it is in the catalog
				f.crash(durable, func() { _ = m.work.Ingested(context.Background(), r) })
				f.pass(sessionTTL)
				if !durable {
					require.Equal(f, r.ResultTuple, f.manager("manager-2").ingestResult().ResultTuple, "ingested again, which changes nothing")
				}
				require.Equal(f, 1, f.total(lease.Revoked))
				require.Zero(f, f.count(lease.Space, lease.Any()))
				require.Empty(f, f.state().tasks)
			})
		})
	}
}
