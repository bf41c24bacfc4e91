package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// The clock of the database's machine is stepped by an hour, forward and back, while one coordinator serves and another one
// stands by. That decides nothing: no claim, no session, no lease, no tuple with a TTL.
func TestAStepOfTheClockOfTheDatabaseChangesNothing(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	step := s.Clocked(t)
	url := s.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	b := startMember(t, memberConfig(t, url))
	b.waitReady("standby\n")
	repo := space.Over(a.dial("client-1"))
	require.NoError(t, repo.Space("mine").Put(t.Context(), tuple.New("short"), 20*time.Minute))
	a.addOrigin("a")
	listed := func() bool { // both, with their roles
		members, err := a.api().Members(t.Context())
		require.NoError(t, err)
		if len(members) != 2 {
			return false
		}
		for _, m := range members {
			if m.Gates[0] == a.at.Gate && (m.Role != ownerRole || m.Epoch != 1) || m.Gates[0] == b.at.Gate && m.Role != standbyRole {
				return false
			}
		}
		return true
	}
	for _, offset := range []string{"+3600", "+0", "-3600", "+3600"} {
		step(offset)
		require.Never(t, func() bool { return !a.isReady() }, 3*a.cfg.OwnerLost, 50*time.Millisecond, "it goes on to serve at %s", offset)
		require.Eventually(t, listed, 10*time.Second, 50*time.Millisecond, "at %s", offset)
		require.Equal(t, "standby\n", b.read("/readyz"))
		found, err := repo.Space("mine").QueryAll(t.Context(), tuple.Match("short"))
		require.NoError(t, err, "the session lives at %s", offset)
		require.Len(t, found, 1, "nothing expires at %s", offset)
		require.Equal(t, 1, a.origins())
	}

	pgserver.Exec(t, url, `INSERT INTO leasehold_default.member VALUES ('killed', '1', '127.0.0.1:1', 'http://127.0.0.1:1', '1', 1, now(), now())`)
	step("-3600")
	require.Eventually(t, listed, 10*time.Second, 50*time.Millisecond, "a member that died is not listed, although its last sign of life is ahead of the clock")
	a.stop()
	b.waitReady("ok\n")
	require.Equal(t, 1, b.origins())
}
