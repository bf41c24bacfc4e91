// Package worktest exercises the protocols of status, lease, task, work and visit
// together, under fake time, over any connection: the same scenarios run in
// process and, with another Connect, over whatever carries requests.
//
// A scenario is named by what it shows, and begins with FaultNN if it is that row
// of the catalogue of faults. After each, the invariants of the protocols hold.
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
// whatever it starts must belong to the bubble and end with the test.
type Connect func(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository

// Direct connects in process.
func Direct(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository {
	t.Helper()
	r, err := e.Session(t.Context(), id, ttl)
	require.NoError(t, err)
	return r
}

type scenario struct {
	name string
	run  func(*house)
}

// Exercise runs every scenario over connect.
func Exercise(t *testing.T, connect Connect) {
	ExerciseOn(t, connect, func(testing.TB) journal.Journal { return nil })
}

// ExerciseOn does that on the journals that newJournal makes, each in the bubble
// of its scenario, which closes it. Nil is one in memory.
func ExerciseOn(t *testing.T, connect Connect, newJournal func(testing.TB) journal.Journal) {
	for _, set := range [][]scenario{statusScenarios, leaseScenarios, claimScenarios, giveBackScenarios, lossScenarios,
		expiryScenarios, resultScenarios, managerScenarios, capacityScenarios, strangerScenarios, visitScenarios} {
		for _, s := range set {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := openOn(t, t, connect, policy, newJournal(t))
					defer h.close()
					s.run(h)
					require.Empty(t, h.state().broken())
					require.Empty(t, h.logged.String(), "no expiry may fail")
				})
			})
		}
	}
}
