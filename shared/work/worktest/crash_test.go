package worktest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/shared/lease"
	"leasehold/shared/space/journal"
)

// crash lets the engine die when it commits what op does, before the journal has
// it or after, and starts another one. Whoever waits for the dead one learns
// nothing from it.
func (h *house) crash(durable bool, op func()) {
	synctest.Wait()
	dead := make(chan struct{})
	die := func(context.Context, []journal.Record) error { <-dead; return errors.New("dead") }
	if durable {
		h.journal.After = die
	} else {
		h.journal.Before = die
	}
	go op()
	synctest.Wait()
	h.journal.Before, h.journal.After = h.record, nil
	h.start()
	h.closers = append(h.closers, func() { close(dead); synctest.Wait() })
}

// crashing runs a scenario in which the engine crashes.
func crashing(t *testing.T, run func(h *house)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, t, Direct, policy)
		defer h.close()
		run(h)
	})
}

func TestFault04AClaimWhoseAnswerIsLostInACrashIsClaimableOnceMore(t *testing.T) {
	crashing(t, func(h *house) {
		w, m := h.worker("worker-1", 1), h.manager("manager-1")
		m.issue(toDig("site"), 0)
		h.crash(true, func() { _, _ = w.task.Claim(context.Background(), dig) })
		w2 := h.worker("worker-2", 1)
		_, early := w2.claims()
		require.False(h, early, "the claim is durable")
		h.pass(sessionTTL)
		i := w2.claimAfterBackoff()
		require.EqualValues(h, 1, i.Attempts, "counted once")
		require.NoError(h, w2.report(i, "", true))
		h.manager("manager-2").ingest()
		require.Equal(h, 1, h.total(lease.Revoked))
	})
}

func TestFault05ACrashBetweenIngestAndRevokeKeepsTheResult(t *testing.T) {
	for name, durable := range map[string]bool{"before the revoke is durable": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			crashing(t, func(h *house) {
				w, m := h.worker("worker-1", 1), h.manager("manager-1")
				m.issue(toDig("site"), 0)
				require.NoError(h, w.report(w.claim(), "", true))
				r := m.hold() // and it is in the catalog
				h.crash(durable, func() { _ = m.work.Ingested(context.Background(), r) })
				h.pass(sessionTTL)
				if !durable {
					require.Equal(h, r.Outcome, h.manager("manager-2").ingest().Outcome, "once more, which changes nothing")
				}
				require.Equal(h, 1, h.total(lease.Revoked))
				require.Zero(h, h.count(lease.Space, lease.Any()))
				require.Empty(h, h.state().tasks)
			})
		})
	}
}
