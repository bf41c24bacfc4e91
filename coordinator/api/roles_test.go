package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"leasehold/coordinator/api"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

// roleHeader has the role of a request of these tests; "none": no identity.
const roleHeader = "X-Test-Role"

// identifyByHeader returns the identity that roleHeader names, as a token would.
func identifyByHeader(r *http.Request) (access.Identity, error) {
	name := r.Header.Get(roleHeader)
	switch name {
	case "none":
		return access.Identity{}, nil
	case "wrong":
		return access.Identity{}, fault.ErrUnauthenticated
	}
	role, err := access.ParseRoles(strings.TrimPrefix(name, "other-"))
	return access.Identity{ID: "token-" + name, Name: name, Roles: role, Spaces: []string{"chess"}}, err
}

func newRolesFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureWith(t, func(c *api.Config) {
		c.Identify = identifyByHeader
		c.Page = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	})
}

// as sends a request with a role and returns its status.
func (h *fixture) as(role, method, path, body string) int {
	h.Helper()
	status, _ := h.answerAs(role, method, path, body)
	return status
}

// answerAs sends a request with a role and returns its status and the body of the response.
func (h *fixture) answerAs(role, method, path, body string) (int, string) {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+path, strings.NewReader(body))
	require.NoError(h, err)
	r.Header.Set(roleHeader, role)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.server.Client().Do(r)
	require.NoError(h, err)
	defer resp.Body.Close() // only read
	text, err := io.ReadAll(resp.Body)
	require.NoError(h, err)
	return resp.StatusCode, string(text)
}

// described is an OpenAPI document as far as the test of roles reads it.
type described struct {
	Paths map[string]map[string]struct {
		ID    string   `yaml:"operationId"`
		Roles []string `yaml:"x-roles"`
	}
}

var parameters = strings.NewReplacer("{space}", "chess", "{session}", "worker-1", "{segment}", strings.Repeat("0", 64), "{", "", "}", "")

func TestEachRouteNeedsItsRole(t *testing.T) {
	t.Parallel()
	text, err := api.OpenAPI(api.WholeDocument)
	require.NoError(t, err)
	var document described
	require.NoError(t, yaml.Unmarshal(text, &document))
	h := newRolesFixture(t)
	public := []string{"getDocument", "getUsersDocument", "getHealth", "getReadiness", "joinFleet", "renewCertificate"}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			if operation.ID == "getMetrics" {
				operation.Roles = []string{"reader"}
			}
			var need access.Roles
			if len(operation.Roles) > 0 {
				need, err = access.ParseRoles(strings.Join(operation.Roles, ","))
				require.NoError(t, err)
			} else {
				require.Contains(t, public, operation.ID, "a route without a role")
				need = access.Public
			}
			for _, role := range []string{"none", "reader", "producer", "worker", "manager", "admin"} {
				has, _ := access.ParseRoles(role) // none has none
				status := h.as(role, strings.ToUpper(method), parameters.Replace(path), "")
				what := operation.ID + " as " + role
				switch {
				case has.Meet(need):
					require.NotEqual(t, http.StatusUnauthorized, status, what)
					if operation.ID != "endSession" && operation.ID != "listTuples" && operation.ID != "readTuple" {
						require.NotEqual(t, http.StatusForbidden, status, what)
					}
				case role == "none":
					require.Equal(t, http.StatusUnauthorized, status, what)
				default:
					require.Equal(t, http.StatusForbidden, status, what)
				}
			}
		}
	}
}

func TestThePageNeedsAReader(t *testing.T) {
	t.Parallel()
	h := newRolesFixture(t)
	require.Equal(t, http.StatusOK, h.as("reader", "GET", "/", ""))
	require.Equal(t, http.StatusForbidden, h.as("worker", "GET", "/", ""))
	require.Equal(t, http.StatusUnauthorized, h.as("none", "GET", "/", ""))
}

func TestAWrongTokenIsRefusedExceptWhereNoneIsNeeded(t *testing.T) {
	t.Parallel()
	h := newRolesFixture(t)
	require.Equal(t, http.StatusUnauthorized, h.as("wrong", "GET", "/api/v1/tasks", ""))
	require.Equal(t, http.StatusUnauthorized, h.as("wrong", "GET", "/", ""))
	require.Equal(t, http.StatusOK, h.as("wrong", "GET", "/healthz", ""))
}

func TestASpaceThatARequestNamesNeedsItsRole(t *testing.T) {
	t.Parallel()
	h := newRolesFixture(t)
	require.Equal(t, http.StatusForbidden, h.as("producer", "POST", "/api/v1/spaces", `{"name": "poker"}`), "its token is for chess")
	require.Equal(t, http.StatusCreated, h.as("producer", "POST", "/api/v1/spaces", `{"name": "chess"}`))
	require.Equal(t, http.StatusCreated, h.as("producer", "POST", "/api/v1/spaces/chess/put", `{"tuple": "move \"e4\""}`))
	require.Equal(t, http.StatusOK, h.as("reader", "GET", "/api/v1/spaces/chess/tuples", ""))
	for space, want := range map[string]map[string]int{
		"task":   {"reader": 403, "producer": 200, "worker": 200, "manager": 200},
		"lease":  {"reader": 403, "producer": 403, "worker": 403, "manager": 200, "admin": 200},
		"status": {"reader": 200, "producer": 200, "worker": 200},
	} {
		for role, status := range want {
			require.Equal(t, status, h.as(role, "GET", "/api/v1/spaces/"+space+"/tuples", ""), "%s as %s", space, role)
		}
	}
	transaction := func(operation string) string { return `{"operations": [` + operation + `]}` }
	require.Equal(t, http.StatusForbidden, h.as("producer", "POST", "/api/v1/transactions", transaction(`{"kind": "query", "space": "lease", "template": "?string"}`)))
	require.Equal(t, http.StatusForbidden, h.as("producer", "POST", "/api/v1/transactions", transaction(`{"kind": "put", "space": "poker", "tuple": "1"}`)))
}

func TestASessionIsUsedByItsOwnerOnly(t *testing.T) {
	t.Parallel()
	h := newRolesFixture(t)
	require.Equal(t, http.StatusCreated, h.as("worker", "POST", "/api/v1/sessions", `{}`))
	var id string
	for _, s := range h.c.Engine().Sessions() {
		if strings.HasPrefix(s.ID, "worker-") {
			id = s.ID
		}
	}
	path := "/api/v1/sessions/" + id
	require.Equal(t, http.StatusForbidden, h.as("other-worker", "POST", path+"/heartbeat", `{}`))
	require.Equal(t, http.StatusForbidden, h.as("other-worker", "POST", path+"/claims", `{}`))
	require.Equal(t, http.StatusForbidden, h.as("other-worker", "DELETE", path, ""))
	// The check needs nothing that a restart forgets.
	require.Equal(t, http.StatusForbidden, h.as("other-worker", "POST", "/api/v1/sessions", `{"resume": "`+id+`"}`))
	require.Equal(t, http.StatusForbidden, h.as("worker", "POST", "/api/v1/sessions", `{"resume": "worker-1"}`))
	require.Equal(t, http.StatusConflict, h.as("worker", "POST", "/api/v1/sessions", `{"resume": "`+id+`"}`))
	require.Equal(t, http.StatusOK, h.as("worker", "POST", path+"/heartbeat", `{}`))
	require.Equal(t, http.StatusNoContent, h.as("admin", "DELETE", path, ""))

	require.Equal(t, http.StatusNotFound, h.as("worker", "DELETE", path, ""), "it has ended")
	require.Equal(t, http.StatusCreated, h.as("worker", "POST", "/api/v1/sessions", `{}`))
	require.Equal(t, http.StatusNotFound, h.as("worker", "DELETE", path, ""), "it has ended, and was forgotten")
}

func TestAReaderSeesNoDataOfTasks(t *testing.T) {
	t.Parallel()
	h := newRolesFixture(t)
	status, created := h.answerAs("producer", "POST", "/api/v1/tasks", `{"action": "mail", "data": {"to": "secret"}}`)
	require.Equal(t, http.StatusCreated, status)
	var task struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(created), &task))
	_, seen := h.answerAs("producer", "GET", "/api/v1/tasks/"+task.ID, "")
	require.Contains(t, seen, "secret")
	_, seen = h.answerAs("reader", "GET", "/api/v1/tasks/"+task.ID, "")
	require.NotContains(t, seen, "secret")
	require.Contains(t, seen, `"action":"mail"`)
}

func TestACallerSeesItsRolesAndWhatTheyAllow(t *testing.T) {
	t.Parallel()
	h := newRolesFixture(t)
	_, reader := h.answerAs("reader", "GET", "/api/v1/caller", "")
	require.Contains(t, reader, `"roles":["reader"]`)
	require.Contains(t, reader, `"listTasks"`)
	require.NotContains(t, reader, `"cancelTask"`)
	_, admin := h.answerAs("admin", "GET", "/api/v1/caller", "")
	require.Contains(t, admin, `"roles":["reader","producer","admin"]`)
	require.Contains(t, admin, `"drainSession"`)
	require.Equal(t, http.StatusUnauthorized, h.as("none", "GET", "/api/v1/caller", ""))
}
