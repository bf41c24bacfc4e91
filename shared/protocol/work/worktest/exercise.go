// Package worktest exercises the protocols of status, lease, task, work and visit
// together, in fake time, over any connection: the same scenarios run in process and,
// with another Connect, over a wire.
//
// A scenario is named by the behaviour that it shows; FaultNN in front is the row of
// the catalogue of faults. After each scenario the invariants of the protocols hold.
package worktest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// Connect opens a session at an engine. It is called inside a synctest bubble, so
// goroutines that it starts must belong to the bubble and end with the test.
type Connect func(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository

// Direct connects in process.
func Direct(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository {
	t.Helper()
	r, err := e.Session(t.Context(), id, ttl)
	require.NoError(t, err)
	return r
}

// scenario is one behaviour; run checks it on a new engine. The comment of each run states the
// behaviour.
type scenario struct {
	name string
	run  func(*fixture)
}

// Exercise runs every scenario over connect.
func Exercise(t *testing.T, connect Connect) {
	ExerciseOn(t, connect, func(testing.TB) journal.Journal { return nil })
}

// ExerciseOn runs every scenario on a journal of its own that newJournal makes inside the
// scenario's bubble, and closes it. A nil journal is one in memory. After each scenario it checks
// the invariants of the last state, and that no expiry failed.
func ExerciseOn(t *testing.T, connect Connect, newJournal func(testing.TB) journal.Journal) {
	for _, set := range [][]scenario{statusScenarios, leaseScenarios, claimScenarios, giveBackScenarios, lossScenarios,
		expiryScenarios, resultScenarios, managerScenarios, capacityScenarios, loopScenarios, foreignScenarios, visitScenarios} {
		for _, s := range set {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f := openOn(t, t, connect, policy, newJournal(t))
					defer f.close()
					s.run(f)
					require.Empty(t, f.state().broken())
					require.Empty(t, f.logged.String(), "no expiry may fail")
				})
			})
		}
	}
}
