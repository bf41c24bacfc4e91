package node

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
)

// running is a coordinator that shares a realm, in this process.
type running struct {
	*testing.T
	cfg  config.Config
	at   datadir.Addresses
	stop func() // ends it, and fails the test if it ends with an error
}

// memberConfig is the configuration of a coordinator that shares a realm of a database.
func memberConfig(t *testing.T, url string) config.Config {
	t.Helper()
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.Listen, cfg.HTTP = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	cfg.Journal, cfg.Database, cfg.OwnerLost = config.JournalPostgres, url, time.Second
	return cfg
}

// startMember starts a coordinator, and waits until its ports are open.
func startMember(t *testing.T, cfg config.Config) *running {
	t.Helper()
	return startMemberWith(t, cfg, discard)
}

// startMemberWith is startMember with a log.
func startMemberWith(t *testing.T, cfg config.Config, log *slog.Logger) *running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	listening, ended := make(chan datadir.Addresses, 1), make(chan error, 1)
	go func() { ended <- RunCoordinator(ctx, cfg, log, func(at datadir.Addresses) { listening <- at }) }()
	m := &running{T: t, cfg: cfg, stop: sync.OnceFunc(func() { stop(); require.NoError(t, <-ended) })}
	select {
	case m.at = <-listening:
	case err := <-ended:
		require.NoError(t, err)
	}
	t.Cleanup(m.stop)
	return m
}

// waitReady waits until the coordinator answers the question whether it is ready with text.
func (m *running) waitReady(text string) {
	m.Helper()
	require.Eventually(m, func() bool {
		resp, err := http.Get("http://" + m.at.HTTP + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		b := make([]byte, len(text))
		_, _ = resp.Body.Read(b)
		return string(b) == text
	}, 20*time.Second, 20*time.Millisecond)
}

// read returns what the coordinator answers at a path.
func (m *running) read(path string) string {
	m.Helper()
	resp, err := http.Get("http://" + m.at.HTTP + path)
	require.NoError(m, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(m, err)
	return string(body)
}

func (m *running) api() *client.Client {
	m.Helper()
	c, err := client.New("http://" + m.at.HTTP)
	require.NoError(m, err)
	m.Cleanup(func() { require.NoError(m, c.Close()) })
	return c
}

// origins returns how many origins the catalog has.
func (m *running) origins() int {
	m.Helper()
	all, err := client.List[models.Origin](m.Context(), m.api(), "origins", nil, client.PageSize, client.All)
	require.NoError(m, err)
	return len(all.Items)
}

// A session, what it holds and the catalog outlive their coordinator, and go on at the other one.
func TestAMemberTakesOverWhenTheOwnerLeaves(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	b := startMember(t, memberConfig(t, url))
	b.waitReady("standby\n")

	conn, err := remote.Dial(t.Context(), remote.Config{Address: b.at.Gate + "," + a.at.Gate, Session: "client-1", TTL: 30 * time.Second, Log: discard})
	require.NoError(t, err, "the member that stands by leads to the other one")
	repo := space.Over(conn)
	defer func() { require.NoError(t, repo.Close(context.Background())) }()
	require.NoError(t, repo.Create(t.Context(), "mine", space.Options{}))
	require.NoError(t, repo.Space("mine").Put(t.Context(), tuple.New("kept"), 0))
	_, _, err = a.api().AddOrigin(t.Context(), models.Origin{URI: "https://a.example/feed", Kind: models.Feed}, false)
	require.NoError(t, err)
	waits := make(chan tuple.Tuple, 1)
	go func() {
		got, err := repo.Space("mine").Get(context.Background(), tuple.Match("later"))
		if err != nil {
			t.Error(err)
		}
		waits <- got
	}()

	a.stop()
	b.waitReady("ok\n")
	got, ok, err := repo.Space("mine").GetP(t.Context(), tuple.Match("kept"))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, tuple.New("kept"), got)
	require.NoError(t, repo.Space("mine").Put(t.Context(), tuple.New("later"), 0))
	require.Equal(t, tuple.New("later"), <-waits, "a call that waits goes on waiting")
	require.Equal(t, "client-1", conn.Session())
	require.Equal(t, 1, b.origins())

	members, err := b.api().Members(t.Context())
	require.NoError(t, err)
	require.Len(t, members, 1, "the other one has left")
	require.Equal(t, "owner", members[0].Role)
	require.EqualValues(t, 2, members[0].Epoch)
	require.Equal(t, []string{b.at.Gate}, members[0].Gates)
	status, err := b.api().Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, "default", status.Realm.Name)
	require.Equal(t, members[0].Name, status.Realm.Owner)
	require.EqualValues(t, 2, status.Realm.Epoch)
	require.Positive(t, *status.Realm.Commit)
	for _, line := range []string{"leasehold_standby 0\n", `leasehold_realm_epoch{owner="` + members[0].Name + `",realm="default"} 2`, "leasehold_journal_unfolded_commits "} {
		require.Contains(t, b.read("/metrics"), line)
	}
	require.Contains(t, b.read("/"), "serves in epoch <b>2</b>")

	again := startMember(t, a.cfg)
	again.waitReady("standby\n")
	found, err := Health(t.Context(), modeOf(again.cfg, config.Coordinator))
	require.NoError(t, err)
	require.Equal(t, "the coordinator stands by", found)
}

func modeOf(cfg config.Config, mode string) config.Config {
	cfg.Mode = mode
	return cfg
}

func TestAMemberThatStandsByNamesTheOneThatServes(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	b := startMember(t, memberConfig(t, url))
	b.waitReady("standby\n")
	require.Eventually(t, func() bool {
		resp, err := http.Get("http://" + b.at.HTTP + "/api/v1/status")
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
		var p types.Problem
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&p))
		return p.Owner == "http://"+a.at.HTTP
	}, 10*time.Second, 50*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := remote.Dial(ctx, remote.Config{Address: b.at.Gate, Session: "client-1", Log: discard})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "the gate of the one that serves is at "+a.at.Gate)
}

func TestRealmsOfOneDatabaseAreServedBesideEachOther(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	cfg := memberConfig(t, url)
	cfg.Realm = "other"
	b := startMember(t, cfg)
	b.waitReady("ok\n")
	_, _, err := a.api().AddOrigin(t.Context(), models.Origin{URI: "https://a.example/feed", Kind: models.Feed}, false)
	require.NoError(t, err)
	require.Zero(t, b.origins())
}

// All members of a realm have the same CA, so a process that has joined is known to each.
func TestMembersThatAuthenticateHaveOneIdentity(t *testing.T) {
	t.Parallel()
	url, key := pgserver.Database(t), authority.NewSealingKey().Reveal()
	secured := func() config.Config {
		cfg := memberConfig(t, url)
		cfg.Auth, cfg.IdentityKey = true, key
		return cfg
	}
	a := startMember(t, secured())
	require.NotEmpty(t, a.at.CA)
	b := startMember(t, secured())
	require.Equal(t, a.at.CA, b.at.CA)

	for name, c := range map[string]struct{ key, says string }{
		"another key": {authority.NewSealingKey().Reveal(), "was encrypted with another identity key"},
		"no key":      {"", "identity-key is not set"},
		"half a key":  {key[:32], "want 64 hexadecimal digits"},
	} {
		cfg := secured()
		cfg.IdentityKey = c.key
		err := RunCoordinator(t.Context(), cfg, discard, nil)
		require.ErrorContains(t, err, c.says, name)
		require.NotContains(t, err.Error(), key)
	}
	open := secured()
	open.Auth = false
	require.ErrorContains(t, RunCoordinator(t.Context(), open, discard, nil), "the coordinators of the realm default authenticate their clients")
}

func TestAMemberRefusesAFolderThatACoordinatorUsedAlone(t *testing.T) {
	t.Parallel()
	cfg := memberConfig(t, pgserver.Database(t))
	require.NoError(t, os.MkdirAll(filepath.Join(cfg.Data, journalDir), 0o700))
	err := RunCoordinator(t.Context(), cfg, discard, nil)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "leasehold move")
}

func TestThePasswordOfTheDatabaseAppearsNowhere(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	cfg := memberConfig(t, "postgres://leasehold:geheim@127.0.0.1:1/nowhere")
	err := RunCoordinator(ctx, cfg, slog.New(slog.NewTextHandler(&log, nil)), nil)
	require.Contains(t, log.String(), "the database cannot be used; waiting for it")
	require.NotContains(t, log.String(), "geheim")
	if err != nil {
		require.NotContains(t, err.Error(), "geheim")
	}
	for _, v := range cfg.Values() {
		require.NotContains(t, v.Value, "geheim")
	}
}
