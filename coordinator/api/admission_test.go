package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/api"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/authority"
	"leasehold/coordinator/page"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
)

// authFixture is a coordinator that authenticates, whose clients are on this machine and need no TLS.
type authFixture struct {
	*fixture
	auth  *auth.Auth
	admin string // token
}

func newAuthFixture(t *testing.T) *authFixture {
	t.Helper()
	dir := t.TempDir()
	file, err := sqlfile.Open(t.Context(), filepath.Join(dir, "admission.db"), store.Format(admission.Schema()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	store, err := admission.New(t.Context(), file, time.Now)
	require.NoError(t, err)
	ca, err := authority.Create(filepath.Join(dir, "identity"), time.Now)
	require.NoError(t, err)
	h := &authFixture{admin: admission.NewAdminSecret(), auth: auth.New(auth.Config{Authority: ca, Store: store, Now: time.Now, Log: slog.New(slog.DiscardHandler)})}
	store.SetAdmin(h.admin)
	h.fixture = newFixtureWith(t, func(c *api.Config) {
		c.Auth, c.JoinAddresses, c.SignIn = h.auth, func(context.Context) ([]string, error) { return []string{"server:7411"}, nil }, page.New(page.Config{}).SignIn
		c.Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") })
	})
	return h
}

// by sends a request with a token, and returns the status and the answer.
func (h *authFixture) by(token, method, path, body string) (int, map[string]any) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+"/api/v1/"+path, strings.NewReader(body))
	require.NoError(h, err)
	r.Header.Set("Authorization", "Bearer "+token)
	return h.send(r)
}

// byAdmin is by for an administrator's request that must succeed.
func (h *authFixture) byAdmin(method, path, body string) map[string]any {
	h.Helper()
	status, answer := h.by(h.admin, method, path, body)
	require.Less(h, status, 300, "%s %s: %v", method, path, answer)
	return answer
}

// token makes a token of a role, and returns its secret.
func (h *authFixture) token(name, role string) string {
	h.Helper()
	return h.byAdmin("POST", "tokens", `{"name": "`+name+`", "roles": ["`+role+`"]}`)["token"].(string)
}

// audit writes what waits, and returns the audit as lines of name, action, object and outcome.
func (h *authFixture) audit() []string {
	h.Helper()
	ended, end := context.WithCancel(h.Context())
	end()
	h.auth.Run(ended)
	var lines []string
	for _, item := range items(h.byAdmin("GET", "audit", "")) {
		r := item.(map[string]any)
		lines = append(lines, strings.Join([]string{r["name"].(string), r["action"].(string), r["object"].(string), r["outcome"].(string)}, " "))
	}
	return lines
}

func TestInvitesAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	made := h.byAdmin("POST", "invites", `{"role": "worker", "name": "attic", "uses": 1, "expires_s": 3600}`)
	line := made["join"].(string)
	require.Regexp(t, `^lh1-worker-[a-z2-7]{8}-[a-z2-7]{32}-[a-z2-7]{32}@server:7411$`, line)
	service := h.byAdmin("POST", "invites", `{"role": "manager", "service": true, "addresses": ["other:1"]}`)
	require.Contains(t, service["join"], "@other:1")
	require.NotContains(t, service, "expires")
	listed := h.byAdmin("GET", "invites", "")
	require.Len(t, items(listed), 2)
	require.NotContains(t, marshal(t, listed), "lh1-")
	require.NotContains(t, marshal(t, listed), strings.Split(strings.Split(line, "@")[0], "-")[4])
	h.byAdmin("DELETE", "invites/"+made["id"].(string), "")
	require.Len(t, items(h.byAdmin("GET", "invites", "")), 1)
	status, _ := h.by(h.admin, "DELETE", "invites/"+made["id"].(string), "")
	require.Equal(t, 404, status)
	for _, body := range []string{`{"role": "reader"}`, `{"role": "cook"}`, `{"role": "worker", "service": true, "uses": 1}`, `{"role": "worker", "expires_s": -1}`, `{"role": "worker", "uses": -1}`, `{}`} {
		status, answer := h.by(h.admin, "POST", "invites", body)
		require.Equal(t, 400, status, "%s: %v", body, answer)
	}
}

func TestTokensAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	made := h.byAdmin("POST", "tokens", `{"name": "ci", "roles": ["producer", "worker"], "spaces": ["chess"], "expires_s": 3600}`)
	secret := made["token"].(string)
	require.Regexp(t, `^lht-[a-z2-7]{52}$`, secret)
	listed := h.byAdmin("GET", "tokens", "")
	require.Len(t, items(listed), 1, "the token of the coordinator's user is in a file")
	require.NotContains(t, marshal(t, listed), secret)
	require.Equal(t, []any{"producer", "worker"}, first(listed)["roles"])
	status, answer := h.by(h.admin, "POST", "tokens", `{"name": "ci", "roles": ["reader"]}`)
	require.Equal(t, 409, status, "%v", answer)
	for _, body := range []string{`{"name": "x", "roles": []}`, `{"name": "x", "roles": ["cook"]}`, `{"name": "a b", "roles": ["reader"]}`, `{"name": "x", "roles": ["reader"], "spaces": ["a,b"]}`} {
		status, answer := h.by(h.admin, "POST", "tokens", body)
		require.Equal(t, 400, status, "%s: %v", body, answer)
	}
	status, _ = h.by(secret, "GET", "tokens", "")
	require.Equal(t, 403, status)
	h.byAdmin("DELETE", "tokens/ci", "")
	status, answer = h.by(secret, "GET", "tasks", "")
	require.Equal(t, 401, status)
	require.NotContains(t, marshal(t, answer), secret)
}

func TestEachChangeByATokenIsInTheAuditOnce(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	producer, worker := h.token("ci", "producer"), h.token("box", "worker")
	_, created := h.by(producer, "POST", "tasks", `{"action": "mail"}`)
	for _, read := range []string{"tasks", "status", "origins", "spaces"} {
		status, _ := h.by(producer, "GET", read, "")
		require.Equal(t, 200, status, read)
	}
	status, _ := h.by(producer, "POST", "spaces/alert/query", `{"template": "?string"}`)
	require.Contains(t, []int{200, 400, 403, 404}, status)
	_, session := h.by(worker, "POST", "sessions", `{}`) // what workers do, tasks show
	id := session["id"].(string)
	status, _ = h.by(worker, "POST", "sessions/"+id+"/heartbeat", `{}`)
	require.Equal(t, 200, status)
	status, _ = h.by(producer, "POST", "tasks/none/cancel", "")
	require.Equal(t, 404, status)
	lines := h.audit()
	require.Len(t, lines, 4, "%v", lines)
	require.Equal(t, []string{
		"admin createToken /api/v1/tokens done", "admin createToken /api/v1/tokens done", "ci createTask /api/v1/tasks done",
	}, lines[:3])
	require.Contains(t, lines[3], "ci cancelTask /api/v1/tasks/none/cancel ")
	require.NotContains(t, lines[3], " done")
	require.NotEmpty(t, created["id"])
}

func TestARefusedRequestIsInTheAuditUnderItsOperation(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	reader := h.token("eve", "reader")
	for range 3 {
		status, _ := h.by(reader, "DELETE", "spaces/chess", "")
		require.Equal(t, 403, status)
	}
	status, _ := h.by("lht-unknown", "DELETE", "spaces/chess", "")
	require.Equal(t, 401, status)
	lines := h.audit()
	require.Len(t, lines, 4, "%v", lines)
	for _, line := range lines[1:] {
		require.Contains(t, line, "eve deleteSpace /api/v1/spaces/chess DELETE /api/v1/spaces/chess: forbidden: it needs the role admin")
	}
}

func TestASecretInAPathIsNotInTheAuditNorInErrors(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	secret := h.token("ci", "producer")
	line, _, _ := strings.Cut(h.byAdmin("POST", "invites", `{"role": "worker"}`)["join"].(string), "@")
	for path, hidden := range map[string]string{"tokens/" + secret: secret, "invites/" + line: line[len(line)-32:], "peers/" + secret: secret} {
		status, answer := h.by(h.admin, "DELETE", path, "")
		require.GreaterOrEqual(t, status, 400)
		require.NotContains(t, marshal(t, answer), hidden)
	}
	text := strings.Join(h.audit(), "\n")
	require.NotContains(t, text, secret)
	require.NotContains(t, text, line[len(line)-32:])
}

func TestRevokingATokenEndsItsSessionsAndItsWaitingRequests(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	worker, producer := h.token("box", "worker"), h.token("ci", "producer")
	_, session := h.by(worker, "POST", "sessions", `{}`)
	id := session["id"].(string)
	ended := make(chan int, 2)
	for token, request := range map[string]struct{ path, body string }{
		worker:   {"sessions/" + id + "/claims", `{"actions": ["mail"], "wait": 25}`},
		producer: {"spaces/result/get", `{"template": "\"nothing\"", "wait_s": 25}`},
	} {
		go func() {
			status, answer := h.by(token, "POST", request.path, request.body)
			if status != 503 && status != 401 && status != 404 { // the session may end first
				h.Errorf("%s: %d %v", request.path, status, answer)
			}
			ended <- status
		}()
	}
	require.Eventually(t, func() bool { return h.c.Engine().Stats().Waiters >= 2 }, 20*time.Second, 5*time.Millisecond)
	began := time.Now()
	h.byAdmin("DELETE", "tokens/box", "")
	<-ended
	h.byAdmin("DELETE", "tokens/ci", "")
	<-ended
	require.Less(t, time.Since(began), 10*time.Second, "not the 25 s that they wait")
	for _, s := range h.c.Engine().Sessions() {
		require.NotEqual(t, id, s.ID)
	}
	status, _ := h.by(worker, "POST", "sessions/"+id+"/heartbeat", `{}`)
	require.Equal(t, 401, status)
}

// browse sends a request as a browser does, and returns the response, whose body is read.
func (h *authFixture) browse(browser *http.Client, method, path string, form url.Values, header ...string) (*http.Response, string) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+path, strings.NewReader(form.Encode()))
	require.NoError(h, err)
	r.Header.Set("Accept", "text/html")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := browser.Do(r)
	require.NoError(h, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(h, err)
	return resp, string(text)
}

func TestABrowserSignsInWithATokenAndOut(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	reader, worker := h.token("ann", "reader"), h.token("box", "worker")
	browser := &http.Client{Transport: h.server.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, text := h.browse(browser, "GET", "/", nil)
	require.Equal(t, 401, resp.StatusCode)
	require.Contains(t, text, `<form action="/sign-in" method="post">`)
	require.NotContains(t, text, "the page")
	resp, text = h.browse(browser, "POST", "/sign-in", url.Values{"token": {"lht-wrong"}})
	require.Equal(t, 401, resp.StatusCode)
	require.Contains(t, text, "<form")
	require.Contains(t, text, "not known")
	require.NotContains(t, text, "lht-wrong")
	require.Empty(t, resp.Cookies())

	resp, _ = h.browse(browser, "POST", "/sign-in", url.Values{"token": {" " + reader + "\n"}})
	require.Equal(t, 303, resp.StatusCode)
	require.Equal(t, "/", resp.Header.Get("Location"))
	require.Len(t, resp.Cookies(), 1)
	cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	resp, text = h.browse(browser, "GET", "/", nil, "Cookie", cookie)
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "the page", text)
	resp, _ = h.browse(browser, "GET", "/api/v1/tasks", nil, "Cookie", cookie)
	require.Equal(t, 200, resp.StatusCode)
	resp, _ = h.browse(browser, "POST", "/sign-out", nil, "Cookie", cookie)
	require.Equal(t, 303, resp.StatusCode)
	require.Equal(t, "/", resp.Header.Get("Location"))
	require.Len(t, resp.Cookies(), 1)
	require.Equal(t, -1, resp.Cookies()[0].MaxAge, "the browser forgets it")
	require.Empty(t, resp.Cookies()[0].Value)
	resp, _ = h.browse(browser, "GET", "/", nil, "Cookie", cookie)
	require.Equal(t, 401, resp.StatusCode, "and the coordinator does")
	resp, _ = h.browse(browser, "GET", "/sign-out", nil, "Cookie", cookie)
	require.GreaterOrEqual(t, resp.StatusCode, 400, "it is a form, so no link signs out")

	// The token of a worker is good, and its page is not.
	resp, _ = h.browse(browser, "POST", "/sign-in", url.Values{"token": {worker}})
	cookie = resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	resp, text = h.browse(browser, "GET", "/", nil, "Cookie", cookie)
	require.Equal(t, 401, resp.StatusCode)
	require.Contains(t, text, "<form")
}

func TestOtherSitesCannotActForABrowser(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	browser := h.server.Client()
	resp, _ := h.browse(&http.Client{Transport: browser.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, "POST", "/sign-in", url.Values{"token": {h.admin}})
	cookie := resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
	for _, path := range []string{"/sign-in", "/sign-out", "/api/v1/tokens", "/api/v1/spaces"} {
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			resp, _ := h.browse(browser, "POST", path, url.Values{"token": {h.admin}}, "Cookie", cookie, name, value)
			require.Equal(t, 403, resp.StatusCode, "%s with %s", path, name)
			require.Empty(t, resp.Cookies())
		}
	}
}

func TestAWorkersTokenCannotBeUsedForAnAdministratorsRoute(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	worker := h.token("box", "worker")
	for path, method := range map[string]string{"tokens": "GET", "invites": "GET", "peers": "GET", "audit": "GET", "peers/peer-x": "DELETE"} {
		status, _ := h.by(worker, method, path, "")
		require.Equal(t, 403, status, path)
	}
}

func TestAnAddressThatGuessesTokensIsToldToWait(t *testing.T) {
	t.Parallel()
	h := newAuthFixture(t)
	guess := func() *http.Response {
		resp, text := h.browse(h.server.Client(), "GET", "/api/v1/tasks", nil, "Authorization", "Bearer lht-wrong")
		require.Contains(t, text, `"code":"unauthenticated"`)
		return resp
	}
	require.Equal(t, 401, guess().StatusCode)
	require.Eventually(t, func() bool { return guess().StatusCode == 429 }, 20*time.Second, time.Millisecond)
	resp := guess()
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	resp, text := h.browse(h.server.Client(), "POST", "/sign-in", url.Values{"token": {"lht-wrong"}})
	require.Equal(t, 429, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	require.Contains(t, text, "<form")
	require.Contains(t, text, "too many from this address")
	h.byAdmin("GET", "tasks", "")
}
