package node

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/internal/pgserver"
	"leasehold/shared/identity"
	"leasehold/shared/process/datadir"
)

// An orchestrator must not restart coordinators because their database restarts.
func TestAMemberAnswersWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	server := pgserver.New(t)
	m := startMember(t, memberConfig(t, server.Database(t)))
	m.waitReady("ok\n")
	server.Stop(t)
	m.waitReady("standby\n")
	resp, err := http.Get("http://" + m.at.HTTP + "/healthz")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	server.Start(t)
	m.waitReady("ok\n")
}

// The realm cannot be claimed while the disk of the database is full.
func TestAMemberStandsByUntilTheDiskOfTheDatabaseHasRoom(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	first := startMember(t, memberConfig(t, url))
	first.waitReady("ok\n")
	first.stop()
	db, err := pgx.Connect(t.Context(), url+"&search_path=leasehold_default")
	require.NoError(t, err)
	defer db.Close(context.Background())
	_, err = db.Exec(t.Context(), `CREATE SEQUENCE refused; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM nextval('refused'); RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
		CREATE TRIGGER refuse BEFORE UPDATE ON owner FOR EACH ROW EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	m := startMember(t, memberConfig(t, url))
	require.Eventually(t, func() bool {
		var n int
		require.NoError(t, db.QueryRow(t.Context(), "SELECT last_value FROM refused").Scan(&n))
		return n > 2
	}, 20*time.Second, 20*time.Millisecond, "it tries again")
	_, err = db.Exec(t.Context(), "DROP FUNCTION refuse CASCADE")
	require.NoError(t, err)
	m.waitReady("ok\n")
}

// Clients that know only the new CA reach the owner by way of any member.
func TestAMemberThatStandsByFollowsAChangeOfTheCA(t *testing.T) {
	t.Parallel()
	url, key := pgserver.Database(t), authority.NewSealingKey().Reveal()
	secured := func() *running {
		cfg := memberConfig(t, url)
		cfg.Auth, cfg.IdentityKey = true, key
		return startMember(t, cfg)
	}
	a := secured()
	a.waitServes()
	b := secured()
	made, err := RotateIdentity(t.Context(), a.cfg, discard, time.Now().Add(time.Hour))
	require.NoError(t, err)
	next, err := identity.ParseFingerprint(made.Fingerprint)
	require.NoError(t, err)
	onlyNext := identity.ClientConfig(next, func() *tls.Certificate { return nil }, time.Now)
	require.Eventually(t, func() bool {
		conn, err := identity.Dial(t.Context(), b.at.Gate, onlyNext)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}, 20*time.Second, 20*time.Millisecond)
	at, err := datadir.ReadAddresses(b.cfg.Data)
	require.NoError(t, err)
	require.True(t, at.Standby)
}

// waitServes waits until the address file says that the coordinator serves.
func (m *running) waitServes() {
	m.Helper()
	require.Eventually(m, func() bool {
		at, err := datadir.ReadAddresses(m.cfg.Data)
		return err == nil && at.HTTP != "" && !at.Standby
	}, 20*time.Second, 20*time.Millisecond)
}

// SIGTERM ends a coordinator in order at each moment of its start.
func TestAMemberThatIsStoppedWhileItStartsEndsInOrder(t *testing.T) {
	t.Parallel()
	cfg := memberConfig(t, pgserver.Database(t))
	for delay := range 30 {
		m := startMember(t, cfg)
		<-time.After(time.Duration(delay) * 10 * time.Millisecond)
		m.stop()
	}
}

// A plain client over HTTP, which only repeats what was not answered, knows nothing of take-overs.
func TestASessionOverHTTPGoesOnAtTheNextMember(t *testing.T) {
	t.Parallel()
	url := pgserver.Database(t)
	a := startMember(t, memberConfig(t, url))
	a.waitReady("ok\n")
	b := startMember(t, memberConfig(t, url))
	b.waitReady("standby\n")
	session := "/api/v1/sessions/" + a.post("/api/v1/sessions", `{"name":"mill/1","serves":[{"action":"count","slots":2}]}`)["id"].(string)
	a.post("/api/v1/tasks", `{"action":"count"}`)
	a.post("/api/v1/tasks", `{"action":"count"}`)
	claim := func(m *running) (id string, token any) {
		items := m.post(session+"/claims", `{"wait":5}`)["items"].([]any)
		require.Len(t, items, 1)
		task := items[0].(map[string]any)
		return task["id"].(string), task["token"]
	}
	first, token := claim(a)
	a.stop()
	b.waitReady("ok\n")
	state := b.post(session+"/heartbeat", `{}`)
	require.Len(t, state["claims"], 1)
	b.post(fmt.Sprintf("%s/claims/%s/resolve", session, first), fmt.Sprintf(`{"token":%v}`, token))
	second, _ := claim(b)
	require.NotEqual(t, first, second)
}

// post sends a request that must succeed, and returns the object of the answer.
func (m *running) post(path, body string) (answer map[string]any) {
	m.Helper()
	resp, err := http.Post("http://"+m.at.HTTP+path, "application/json", strings.NewReader(body))
	require.NoError(m, err)
	defer resp.Body.Close()
	require.Less(m, resp.StatusCode, 300, path)
	require.NoError(m, json.NewDecoder(resp.Body).Decode(&answer))
	return answer
}
