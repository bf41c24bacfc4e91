package node

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/lockedbuffer"
	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal/postgres"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
)

// refused starts a coordinator that ends with an exit code, and an error that has each of the texts and no password.
func refused(t *testing.T, cfg config.Config, exit int, texts ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := RunCoordinator(ctx, cfg, discard, nil)
	require.Error(t, err)
	for _, text := range texts {
		require.ErrorContains(t, err, text)
	}
	require.NotContains(t, err.Error(), pgserver.Password)
	require.Equal(t, exit, fault.Of(err).ExitCode, "%v", err)
}

func textLog(to io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// logged starts a coordinator with a log of its own.
func logged(t *testing.T, cfg config.Config) (m *running, log *lockedbuffer.Buffer) {
	t.Helper()
	log = &lockedbuffer.Buffer{}
	m = startMemberWith(t, cfg, textLog(log))
	t.Cleanup(func() {
		m.stop()
		require.NotContains(t, log.String(), pgserver.Password)
	})
	return m, log
}

// isReady reports whether the coordinator serves.
func (m *running) isReady() bool {
	resp, err := http.Get("http://" + m.at.HTTP + "/readyz")
	if err != nil { // it opens its ports again
		return false
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text) == "ok\n"
}

// addOrigin adds an origin. It is not visited, because no manager is connected.
func (m *running) addOrigin(name string) {
	m.Helper()
	_, _, err := m.api().AddOrigin(m.Context(), models.Origin{URI: "https://" + name + ".example/feed", Kind: models.Feed}, false)
	require.NoError(m, err)
}

// dial opens a session with a space "mine", which ends with the test. It also knows the gates of others.
func (m *running) dial(name string, others ...*running) *remote.Conn {
	m.Helper()
	gates := m.at.Gate
	for _, other := range others {
		gates += "," + other.at.Gate
	}
	conn, err := remote.Dial(m.Context(), remote.Config{Address: gates, Session: name, TTL: 30 * time.Second, Log: discard})
	require.NoError(m, err)
	m.Cleanup(func() { _ = space.Over(conn).Close(context.Background()) })
	require.NoError(m, space.Over(conn).Create(m.Context(), "mine", space.Options{}))
	return conn
}

// Both clusters have the realm, and one must not do the work of the other.
func TestARealmThatWasRestoredElsewhereIsServedOnlyIfThatIsAccepted(t *testing.T) {
	t.Parallel()
	s := pgserver.Shared(t)
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	a.addOrigin("a")
	a.stop()
	name := path.Base(strings.TrimSuffix(url, "?sslmode=disable"))
	s.Exec(t, fmt.Sprintf("CREATE DATABASE %sb TEMPLATE %s", name, name))
	t.Cleanup(func() { s.Exec(t, fmt.Sprintf("DROP DATABASE %sb WITH (FORCE)", name)) })
	cfg := memberConfig(t, s.URL(name+"b"))
	refused(t, cfg, 1, "the realm default was restored from a dump of another database", "start once with --accept-missing database")
	original := startMember(t, a.cfg)
	original.waitReady("ok\n")

	cfg.AcceptMissing = acceptDatabase
	b := startMember(t, cfg)
	b.waitReady("ok\n")
	require.Equal(t, 1, b.origins())
	b.addOrigin("b")
	require.Equal(t, 2, b.origins())
	require.Equal(t, 1, original.origins())
	b.stop()
	cfg.AcceptMissing = ""
	again := startMember(t, cfg)
	again.waitReady("ok\n")
	require.Equal(t, 2, again.origins(), "it was accepted once for all")
}

// Two groups that were given the same database and realm by mistake are one group: one coordinator serves, the list
// shows the others, and all are led to the one.
func TestTwoGroupsOfOneRealmAreOneGroup(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	mine := startMember(t, memberConfig(t, url))
	mine.waitReady("ok\n")
	mine.addOrigin("mine")
	theirs := []*running{startMember(t, memberConfig(t, url)), startMember(t, memberConfig(t, url))}
	for _, m := range theirs {
		m.waitReady("standby\n")
	}
	members, err := mine.api().Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 3)
	owners := 0
	for _, m := range members {
		if m.Role == ownerRole {
			owners++
		}
	}
	require.Equal(t, 1, owners)
	mine.stop()
	require.Eventually(t, func() bool {
		for _, m := range theirs {
			if m.isReady() {
				return true
			}
		}
		return false
	}, 20*time.Second, 20*time.Millisecond)
	for _, m := range theirs {
		if m.isReady() {
			require.Equal(t, 1, m.origins(), "they serve what the first group has")
		}
	}
}

// Two machines with one name and one path of the data folder, as copies of a virtual machine are.
func TestASecondMemberOfOneNameIsRefused(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	require.NoError(t, os.Rename(a.cfg.Data, a.cfg.Data+"-elsewhere"))
	require.NoError(t, os.Mkdir(a.cfg.Data, 0o700))
	cfg := memberConfig(t, url)
	cfg.Data = a.cfg.Data
	refused(t, cfg, 1, "has a member "+nameOf(config.Coordinator, cfg.Data)+" that lives", "a data folder or a machine name of its own")
	a.addOrigin("a")
	require.Equal(t, 1, a.origins(), "the first one goes on")
	members, err := a.api().Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 1)
	require.EqualValues(t, 1, members[0].Epoch)
}

func TestARealmOfAnotherFormatIsNeitherServedNorTakenOver(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	a.addOrigin("a")
	for format, advice := range map[int]string{postgres.NewestFormat + 1: "use a newer leasehold", postgres.OldestFormat - 1: "use an older leasehold"} {
		pgserver.Exec(t, url, "UPDATE leasehold_default.realm SET format = $1", format)
		refused(t, memberConfig(t, url), 1, fmt.Sprintf("the realm has format %d", format), advice)
	}
	pgserver.Exec(t, url, "UPDATE leasehold_default.realm SET format = $1", postgres.NewestFormat)
	b := startMember(t, memberConfig(t, url))
	b.waitReady("standby\n")
	require.Equal(t, 1, a.origins(), "the one that serves goes on")
}

// The backup of a cluster is restored in place while its coordinators run. They serve what the backup has, and younger
// sessions fail as lost.
func TestCoordinatorsServeADatabaseThatWasSetBackToYesterday(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	url := s.Database(t)
	a, log := logged(t, memberConfig(t, url))
	a.waitReady("ok\n")
	b := startMember(t, memberConfig(t, url))
	b.waitReady("standby\n")
	a.addOrigin("yesterday")
	old := a.dial("client-old", b)
	require.NoError(t, space.Over(old).Space("mine").Put(t.Context(), tuple.New("yesterday"), 0))
	restore := s.Keep(t)
	var serving *running
	waitServing := func() {
		t.Helper()
		require.Eventually(t, func() bool {
			for _, m := range []*running{a, b} {
				if m.isReady() {
					serving = m
					return true
				}
			}
			return false
		}, time.Minute, 20*time.Millisecond)
	}
	waitServing()
	serving.addOrigin("today")
	young := serving.dial("client-young", a, b)
	require.NoError(t, space.Over(young).Space("mine").Put(t.Context(), tuple.New("today"), 0))
	restore()
	waitServing()
	require.Eventually(t, func() bool {
		_, err := space.Over(young).Space("mine").QueryAll(t.Context(), tuple.Match(tuple.AnyString))
		return err != nil && fault.Of(err).Kind == fault.ErrClosed
	}, time.Minute, 20*time.Millisecond, "the session fails as lost")
	waitServing()
	require.Equal(t, 1, serving.origins())
	now := space.Over(serving.dial("client-now", a, b))
	found, err := now.Space("mine").QueryAll(t.Context(), tuple.Match(tuple.AnyString))
	require.NoError(t, err)
	require.Equal(t, []tuple.Tuple{tuple.New("yesterday")}, found)
	require.NoError(t, now.Space("mine").Put(t.Context(), tuple.New("now"), 0))
	require.Contains(t, log.String(), "stands by")
	members, err := serving.api().Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 2)
}

func TestTheErrorOfARoleNamesTheRightThatItLacks(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	url := s.Role(t, "leasehold")
	s.Exec(t, "CREATE ROLE weak LOGIN")
	weak := strings.Replace(url, "//leasehold:", "//weak:", 1)
	refused(t, memberConfig(t, weak), 1, `the role "weak" may not make the schema leasehold_default`, `GRANT CREATE ON DATABASE`, `TO "weak"`)

	m := startMember(t, memberConfig(t, url)) // a role as createuser makes it is enough
	m.waitReady("ok\n")
	second := startMember(t, memberConfig(t, url))
	second.waitReady("standby\n")
	m.addOrigin("a")
	m.stop()
	second.waitReady("ok\n")
	require.Equal(t, 1, second.origins())
	name := path.Base(strings.TrimSuffix(url, "?sslmode=disable"))
	s.Exec(t, "GRANT CREATE ON DATABASE "+name+" TO weak")
	refused(t, memberConfig(t, weak), 1, `the role "weak" may not use the schema leasehold_default`, `the role "leasehold" owns`, `GRANT "leasehold" TO "weak"`)
	s.Exec(t, "GRANT leasehold TO weak")
	third := startMember(t, memberConfig(t, weak))
	third.waitReady("standby\n")
}

func TestADatabaseOfAnotherEncodingIsRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	s := pgserver.New(t)
	for _, encoding := range []string{"LATIN1", "SQL_ASCII"} {
		name := "in_" + strings.ToLower(encoding)
		s.Exec(t, fmt.Sprintf("CREATE DATABASE %s ENCODING '%s' TEMPLATE template0", name, encoding))
		refused(t, memberConfig(t, s.URL(name)), 1, "the database has the encoding "+encoding, "createdb -E UTF8 -T template0")
	}
}
