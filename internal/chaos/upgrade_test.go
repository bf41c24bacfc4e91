//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/space/journal/postgres"
)

// Members of two versions share a realm under traffic. The older ones can take over from the newer one until all are
// replaced and the upgrade is finished, and are refused afterwards.
func TestMembersAreUpgradedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	next := filepath.Join(t.TempDir(), "leasehold")
	require.NoError(t, binary.Build(next, "-tags", "failpoints,nextformat"))
	s := newShared(t, 2, shortTTLs...)
	a, b, c := s.members[0], s.members[1], s.add(next)
	s.awaitMembers(3)
	x := startTraffic(t, s.fixture, newSeed(t))
	defer x.stopTraffic()

	said, code := s.awaitEpoch(1).run("upgrade", "finish")
	require.Equal(t, 1, code, said)
	require.Contains(t, said, fmt.Sprintf("these members do not read format %d: ", postgres.NewestFormat+1))

	a.leave()
	b.leave()
	require.Same(t, c, s.awaitEpoch(s.epoch+1), "the newer version takes over")
	s.migrate()
	a.begin("")
	b.begin("")
	s.awaitMembers(3)
	c.leave()
	require.NotSame(t, c, s.awaitEpoch(s.epoch+1), "the older version takes over from the newer one")
	c.begin("")
	s.awaitMembers(3)
	for _, m := range []*sharing{a, b} {
		m.leave()
		m.version = next
		m.begin("")
		s.awaitMembers(3)
	}
	said, code = s.awaitEpoch(s.epoch).run("upgrade", "finish")
	require.Zero(t, code, said)
	require.Equal(t, fmt.Sprintf("The realm has format %d.", postgres.NewestFormat+1), said)
	s.awaitEpoch(s.epoch).leave()
	s.awaitEpoch(s.epoch + 1)
	x.stopTraffic()
	if !t.Failed() {
		x.check()
	}

	a.leave()
	a.version = ""
	a.begin("")
	require.Equal(t, 1, a.Code())
	require.Contains(t, a.Text(), fmt.Sprintf("the realm has format %d, this program reads format %d: use a newer leasehold", postgres.NewestFormat+1, postgres.NewestFormat))
}

// migrate changes tables as a newer version may: it only adds.
func (s *shared) migrate() {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.url)
	require.NoError(s.t, err)
	_, err = conn.Exec(s.t.Context(), `SET search_path = leasehold_default;
		UPDATE schema_version SET version = version + 1;
		INSERT INTO schema_version VALUES ('later', 1);
		ALTER TABLE fact ADD COLUMN later integer;
		ALTER TABLE member ADD COLUMN later text NOT NULL DEFAULT ''`)
	require.NoError(s.t, errors.Join(err, conn.Close(s.t.Context())))
}

// awaitMembers waits until the list of the realm has n members.
func (s *shared) awaitMembers(n int) {
	s.t.Helper()
	binary.Eventually(s.t, fmt.Sprintf("the realm has %d members", n), func() bool {
		m, _ := s.owner()
		if m == nil {
			return false
		}
		all, err := m.ask()
		return err == nil && len(all) == n
	})
}

// leave stops a member in order, if it runs.
func (m *sharing) leave() {
	m.t.Helper()
	m.Signal(syscall.SIGTERM)
	require.True(m.t, m.WaitEnd(binary.WaitLimit), "the member does not stop")
}
