//go:build linux

package chaos

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/internal/pgserver"
)

// The database is read-only for a while, and its disk is full for a while, under traffic.
func TestNothingIsLostWhileTheDatabaseRefusesToWrite(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	r := rand.New(rand.NewPCG(seed, 47))
	disk := smallDisk(t, 64<<20)
	require.NoError(t, os.Chmod(filepath.Dir(filepath.Dir(disk)), 0o755)) // because the server is another user
	dir := filepath.Join(disk, "tables")
	require.NoError(t, os.Mkdir(dir, 0o755))
	server := pgserver.New(t)
	s := newRealm(t, server, server.DatabaseIn(t, dir), shortTTLs...)
	s.refused = &atomic.Int64{}
	s.start(3)
	x := startTraffic(t, s.fixture, seed)
	defer x.stopTraffic()
	ways := []func(*rand.Rand){s.beReadOnly, s.openReadOnly, func(r *rand.Rand) { s.beFull(r, disk, false) }, func(r *rand.Rand) { s.beFull(r, disk, true) }}
	for end := time.Now().Add(*timeFlag); ; {
		for _, n := range r.Perm(len(ways)) {
			after(time.Duration(r.IntN(500)) * time.Millisecond)
			ways[n](r)
		}
		if t.Failed() || !time.Now().Before(end) {
			break
		}
	}
	s.checkAll(x)
}

// beReadOnly makes all sessions of the server read-only for a while.
func (s *shared) beReadOnly(r *rand.Rand) {
	s.t.Helper()
	s.readOnly(r, func() {
		s.server.Exec(s.t, "ALTER SYSTEM SET default_transaction_read_only = on")
		s.server.Exec(s.t, "SELECT pg_reload_conf()")
	}, func() {
		s.server.Exec(s.t, "ALTER SYSTEM RESET default_transaction_read_only")
		s.server.Exec(s.t, "SELECT pg_reload_conf()")
	})
}

// openReadOnly makes the new sessions of the database read-only for a while, and ends the other ones.
func (s *shared) openReadOnly(r *rand.Rand) {
	s.t.Helper()
	alter := "ALTER DATABASE " + s.database()
	s.readOnly(r, func() {
		s.server.Exec(s.t, alter+" SET default_transaction_read_only = on")
		s.server.Terminate(s.t, "leasehold%")
	}, func() { s.server.Exec(s.t, alter+" RESET default_transaction_read_only") })
}

// database returns the name of the database.
func (s *shared) database() string {
	name, _, _ := strings.Cut(s.url[strings.LastIndexByte(s.url, '/')+1:], "?")
	return name
}

// readOnly calls begin, which makes the database read-only, and after a while end. Meanwhile no coordinator serves, and
// nothing is committed.
func (s *shared) readOnly(r *rand.Rand, begin, end func()) {
	s.t.Helper()
	s.awaitEpoch(s.epoch)
	next := s.epoch + 1
	begin()
	binary.Eventually(s.t, "no coordinator serves", func() bool { m, _ := s.owner(); return m == nil })
	stood := s.position()
	after(time.Duration(r.IntN(1500)) * time.Millisecond)
	require.Equal(s.t, stood, s.position(), "nothing is written")
	for _, m := range s.members {
		require.False(s.t, m.Ended(), "it waits for the database")
	}
	began := time.Now()
	end()
	s.awaitEpoch(next)
	s.note("the database is writable again", began)
}

// position returns the epoch and the position of the realm.
func (s *shared) position() (at [2]int64) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.url)
	require.NoError(s.t, err)
	defer conn.Close(context.Background())
	require.NoError(s.t, conn.QueryRow(s.t.Context(), "SELECT epoch, position FROM leasehold_default.realm").Scan(&at[0], &at[1]))
	return at
}

// beFull fills the disk of the database until calls are refused, and for a while longer. If kill is set, the owner dies
// meanwhile.
func (s *shared) beFull(r *rand.Rand, disk string, kill bool) {
	s.t.Helper()
	owner := s.awaitEpoch(s.epoch)
	next := s.epoch
	filler, refused := filepath.Join(disk, "filler"), s.refused.Load()
	fillUp(s.t, filler)
	binary.Eventually(s.t, "calls are refused, or no coordinator can begin", func() bool {
		m, _ := s.owner()
		return m == nil || s.refused.Load() > refused+100
	})
	if kill {
		next++
		owner.Kill()
	}
	after(time.Duration(r.IntN(1500)) * time.Millisecond)
	for _, m := range s.members {
		require.False(s.t, m.Ended() && m != owner, "it goes on with a full disk: %s", m.Output())
	}
	began := time.Now()
	require.NoError(s.t, os.Remove(filler))
	s.awaitEpoch(next)
	s.note("the disk has free space again", began)
	s.restart()
}
