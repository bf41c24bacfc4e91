package node

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/lockedbuffer"
	"leasehold/internal/pgserver"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// awaitLine waits until a line of the log has all texts.
func awaitLine(t *testing.T, log *lockedbuffer.Buffer, texts ...string) {
	t.Helper()
	require.Eventually(t, func() bool { return hasLine(log.String(), texts...) }, 30*time.Second, 20*time.Millisecond, "%v in %s", texts, log)
}

func hasLine(log string, texts ...string) bool {
	for line := range strings.Lines(log) {
		all := true
		for _, text := range texts {
			all = all && strings.Contains(line, text)
		}
		if all {
			return true
		}
	}
	return false
}

// begin starts a coordinator that may have to wait for the database before its ports are open. ready returns it once they
// are.
func begin(t *testing.T, url string) (log *lockedbuffer.Buffer, ready func() *running) {
	t.Helper()
	cfg, log := memberConfig(t, url), &lockedbuffer.Buffer{}
	opened := make(chan *running, 1)
	go func() { opened <- startMemberWith(t, cfg, textLog(log)) }()
	ready = func() *running {
		t.Helper()
		select {
		case m := <-opened:
			return m
		case <-time.After(time.Minute):
			require.Fail(t, "it does not start", "%s", log)
			return nil
		}
	}
	return log, ready
}

// A limit of the role, too low at any step of the start, keeps a coordinator waiting, and it goes on when the limit is
// raised.
func TestACoordinatorWithTooFewConnectionsWaitsAndTellsWhy(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	for limit := range 12 {
		role := fmt.Sprint("role", limit)
		url := s.Role(t, role)
		s.Exec(t, fmt.Sprintf("ALTER ROLE %s CONNECTION LIMIT %d", role, limit))
		log, ready := begin(t, url)
		if limit < 2 {
			awaitLine(t, log, "level=WARN", "max_connections", "too many connections for role")
		}
		s.Exec(t, "ALTER ROLE "+role+" CONNECTION LIMIT -1")
		m := ready()
		m.waitReady("ok\n")
		m.addOrigin("a")
		require.Equal(t, 1, m.origins())
		m.stop()
		require.NotContains(t, log.String(), pgserver.Password)
	}
}

// Too few connections for more than the claim must not make a coordinator claim the realm without a pause.
func TestACoordinatorThatCannotServeClaimsLessAndLess(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	url := s.Role(t, "leasehold")
	s.Exec(t, "ALTER ROLE leasehold CONNECTION LIMIT 5")
	log, ready := begin(t, url)
	const claims = 6
	claimed := func() int { return strings.Count(log.String(), "this member serves the realm") }
	require.Eventually(t, func() bool { return claimed() > 0 }, time.Minute, time.Millisecond, "%s", log)
	began := time.Now()
	require.Eventually(t, func() bool { return claimed() >= claims }, time.Minute, time.Millisecond)
	require.Greater(t, time.Since(began), (100+200+400+800)*time.Millisecond, "the least pauses between them")
	awaitLine(t, log, "level=WARN", "this member stands by", "too many connections for role")
	s.Exec(t, "ALTER ROLE leasehold CONNECTION LIMIT -1")
	m := ready()
	m.waitReady("ok\n")
}

// occupy takes all connections of a server that a role may have, until free is called.
func occupy(t *testing.T, url string) (free func()) {
	t.Helper()
	var all []*pgx.Conn
	for {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			require.ErrorContains(t, err, "53300")
			break
		}
		all = append(all, conn)
	}
	return func() {
		for _, conn := range all {
			_ = conn.Close(context.Background())
		}
	}
}

// Other programs use all of max_connections when a coordinator starts, and again when a second one starts.
func TestCoordinatorsGoOnWhenAServerHasConnectionsAgain(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t, pgserver.Settings{"max_connections": "30"})
	url := s.Role(t, "leasehold")
	free := occupy(t, url)
	log, ready := begin(t, url)
	awaitLine(t, log, "level=WARN", "the database cannot be used; waiting for it", "max_connections", "SQLSTATE 53300")
	free()
	a := ready()
	a.waitReady("ok\n")
	repo := space.Over(a.dial("client-1"))

	free = occupy(t, url)
	log, ready = begin(t, url)
	awaitLine(t, log, "level=WARN", "waiting for it", "max_connections")
	require.NoError(t, repo.Space("mine").Put(t.Context(), tuple.New("kept"), 0), "the one that serves goes on")
	free()
	b := ready()
	b.waitReady("standby\n")
	a.stop()
	b.waitReady("ok\n")
	found, err := space.Over(b.dial("client-2")).Space("mine").QueryAll(t.Context(), tuple.Match("kept"))
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// An operator lowers the limit of the role, or of the database, and ends the connections, while one coordinator serves and
// another one stands by.
func TestCoordinatorsThatLoseTheirConnectionsGoOnWhenTheyGetOthers(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	for n, limited := range []string{"ROLE role0", "DATABASE"} {
		url := s.Role(t, fmt.Sprint("role", n))
		if limited == "DATABASE" {
			limited += " " + path.Base(strings.TrimSuffix(url, "?sslmode=disable"))
		}
		a, log := logged(t, memberConfig(t, url))
		a.waitReady("ok\n")
		b, standing := logged(t, memberConfig(t, url))
		b.waitReady("standby\n")
		a.addOrigin("a")
		s.Exec(t, "ALTER "+limited+" CONNECTION LIMIT 0")
		require.Positive(t, s.Terminate(t, "leasehold%"))
		a.waitReady("standby\n")
		awaitLine(t, log, "level=WARN", "max_connections", "too many connections for")
		awaitLine(t, standing, "level=WARN", "too many connections for")
		s.Exec(t, "ALTER "+limited+" CONNECTION LIMIT -1")
		require.Eventually(t, func() bool { return a.isReady() || b.isReady() }, 30*time.Second, 20*time.Millisecond)
		serving := a
		if b.isReady() {
			serving = b
		}
		require.Equal(t, 1, serving.origins())
		a.stop()
		b.stop()
	}
}
