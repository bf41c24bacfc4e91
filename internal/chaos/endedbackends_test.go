//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// ofJournal are the kinds of statements of the journal and of the list of members, and those that name no table.
var ofJournal = regexp.MustCompile(`^[A-Z-]+$|\b(log|fact|history|realm|owner|member|pg_stat_activity)\b`)

// The backend of each kind of statement of the journal is ended under traffic, before the server gets the statement and
// after it has done it.
func TestNothingIsLostWhenABackendIsEndedInAnyStatementOfTheJournal(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	s := newShared(t, 3, shortTTLs...)
	x := startTraffic(t, s.fixture, seed)
	defer x.stopTraffic()
	some := []string{"COMMIT of DELETE FROM log", "COMMIT of INSERT INTO fact", "SELECT FROM history", "UPDATE owner SET released",
		"UPDATE realm SET position, INSERT INTO history, INSERT INTO log", "UPDATE realm SET renewed", "COMMIT of UPDATE realm SET epoch"}
	soak := *timeFlag >= time.Minute
	if soak { // the history is trimmed each five seconds
		s.addHistory()
		some = append(some, "COMMIT of DELETE FROM history")
	}
	for end := time.Now().Add(*timeFlag); ; {
		all := s.endStatements(ofJournal.MatchString)
		s.fillLog()
		s.endAll(all, some...)
		some = some[:1]
		if !soak || t.Failed() || time.Now().After(end) {
			break
		}
	}
	s.checkAll(x)
}

// addHistory adds records to the history that are to be trimmed: the newest one counts more bytes than are kept.
func (s *shared) addHistory() {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.url)
	require.NoError(s.t, err)
	_, err = conn.Exec(s.t.Context(), "INSERT INTO leasehold_default.history (seq, clock, key, value, count, bytes) SELECT n, 0, '', '', n, n::bigint << 30 FROM generate_series(-2, 0) n")
	require.NoError(s.t, errors.Join(err, conn.Close(s.t.Context())))
}

// fillLog makes the log of the realm so large that it is folded at once, and not after some seconds.
func (s *shared) fillLog() {
	s.t.Helper()
	c := s.mustDial("large", longTTL)
	large := strings.Repeat("x", 1<<19)
	name := fmt.Sprint("large-", s.epoch) // of each call
	require.NoError(s.t, c.Create(within(s.t), name, space.Options{}))
	for range 40 {
		require.NoError(s.t, c.Space(name).Put(within(s.t), tuple.New(large), 0))
		_, ok, err := c.Space(name).GetP(within(s.t), tuple.Match(tuple.AnyString))
		require.NoError(s.t, err)
		require.True(s.t, ok)
	}
	require.NoError(s.t, c.close())
}

// endAll waits until the backends of all kinds were ended twice, and some kinds are among them. Owners leave now and then,
// because a coordinator sends some statements only at its start. A kind that two owners more did not send has been ended
// once only.
func (s *shared) endAll(all *statements, some ...string) {
	s.t.Helper()
	const longest = 7 * time.Second // some statements are sent every five seconds
	pause := 2 * time.Second
	leave, deadline := time.Now().Add(pause), time.Now().Add(2*binary.WaitLimit)
	idle, last := 0, ""
	for ; idle < 2; after(20 * time.Millisecond) {
		left := all.left()
		missing := slices.DeleteFunc(slices.Clone(some), all.endedTwice)
		if len(left)+len(missing) == 0 {
			break
		}
		require.True(s.t, time.Now().Before(deadline), "no backend was ended twice in %q, %q", missing, left)
		s.restart()
		m, _ := s.owner()
		if m == nil || time.Now().Before(leave) {
			continue
		}
		m.Signal(syscall.SIGTERM)
		pause = min(longest, pause*3/2)
		leave = time.Now().Add(pause)
		now := strings.Join(left, "; ")
		if now == last && len(missing) == 0 {
			idle++
		} else {
			idle, last = 0, now
		}
	}
	s.t.Logf("ended once: %q", all.left())
	kinds := all.stop()
	s.t.Logf("ended before and after each of the others of %d kinds of statements: %s", len(kinds), strings.Join(kinds, "; "))
	s.restart()
	s.awaitEpoch(s.epoch)
}
