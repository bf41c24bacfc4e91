package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/sqlfile"
)

// countdown lets the n-th call to the spaces fail of requests with its context.
type countdown struct {
	left   int
	failed bool
}

type countdownKey struct{}

// failingConn is a connection to the spaces that looks for a countdown.
type failingConn struct{ space.Conn }

var errCall = fmt.Errorf("this call fails for a test: %w", fault.ErrUnavailable)

func (c failingConn) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if n, ok := ctx.Value(countdownKey{}).(*countdown); ok {
		if n.left--; n.left == 0 {
			n.failed = true
			return space.Reply{}, errCall
		}
	}
	return c.Conn.Do(ctx, r)
}

// allRequests are of most routes that read or write the database or the spaces; id is of an origin.
func allRequests(id string) []struct{ method, path, body string } {
	return []struct{ method, path, body string }{
		{"POST", "/origins", `{"kind":"git","uri":"https://example.org/x.git"}`},
		{"GET", "/origins", ""},
		{"GET", "/origins/" + id, ""},
		{"PATCH", "/origins/" + id, `{"priority":3}`},
		{"GET", "/origins/" + id + "/schedule", ""},
		{"POST", "/origins/" + id + "/schedule", `{"action":"save-now"}`},
		{"POST", "/origins/" + id + "/changed", ""},
		{"POST", "/listers", `{"kind":"urls","uri":"https://example.org/list.txt"}`},
		{"GET", "/listers", ""},
		{"POST", "/visit-types", `{"type":"pages"}`},
		{"GET", "/visit-types", ""},
		{"POST", "/visits/claims", `{"type":"pages","limit":2}`},
		{"GET", "/visits", ""},
		{"POST", "/visits", `{"origin":"` + id + `"}`},
		{"GET", "/visits/next", ""},
		{"GET", "/visits/capacity", ""},
		{"GET", "/visits/capacity?slots=3", ""},
		{"POST", "/visits/outcomes", `{"visit":"v","origin":"` + id + `","status":"eventful","items":1,"at":"` + time.Now().UTC().Format(time.RFC3339) + `","took_s":1}`},
		{"PUT", "/episodes", `{"items":[{"name":"a","uri":"https://example.org/1.mp3"}]}`},
		{"GET", "/episodes", ""},
		{"PUT", "/clips", `{"complete":true,"items":[{"name":"a","uri":"https://example.org/1.wav"}]}`},
		{"GET", "/clips", ""},
		{"GET", "/findings", ""},
		{"GET", "/problems", ""},
		{"GET", "/totals", ""},
		{"GET", "/status", ""},
		{"GET", "/costs", ""},
		{"GET", "/spaces", ""},
		{"POST", "/spaces", `{"name":"mine"}`},
		{"POST", "/spaces/mine/put", `{"tuple":"a int:1"}`},
		{"GET", "/spaces/mine", ""},
		{"GET", "/spaces/mine/tuples", ""},
		{"POST", "/spaces/mine/query", `{"template":"a ?int"}`},
		{"DELETE", "/spaces/mine?force=true", ""},
		{"POST", "/tasks", `{"action":"dig","timeout":60}`},
		{"POST", "/task-batches", `{"tasks":[{"action":"dig","timeout":60}]}`},
		{"GET", "/tasks", ""},
		{"GET", "/actions/dig", ""},
		{"POST", "/actions/dig/pause", ""},
		{"POST", "/actions/dig/resume", ""},
		{"PUT", "/limits/one", `{"max":1}`},
		{"GET", "/limits", ""},
		{"DELETE", "/limits/one", ""},
		{"PUT", "/schedules/daily", `{"cron":"0 3 * * *","task":{"action":"dig","timeout":60}}`},
		{"GET", "/schedules", ""},
		{"GET", "/schedules/daily", ""},
		{"POST", "/schedules/daily/pause", ""},
		{"POST", "/schedules/daily/resume", ""},
		{"DELETE", "/schedules/daily", ""},
		{"GET", "/dead", ""},
		{"POST", "/catalog/select", `{"limit":3}`},
		{"GET", "/catalog/audio?origin=" + id, ""},
		{"DELETE", "/origins/" + id, ""},
	}
}

// A request during which the database or a space fails must not be answered as a success: the
// program that sent it would not repeat it.
func TestARequestDuringWhichTheDatabaseOrASpaceFailsIsNoSuccess(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.Conn = failingConn{c.Conn} })
	id := fmt.Sprint(h.ok("POST", v1+"/origins", `{"kind":"git","uri":"https://example.org/x.git"}`)["id"])
	inner := h.server.Config.Handler
	var statement, call int // that fails of the request; 0: none
	var failed func() bool
	h.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &countdown{left: call}
		ctx, statementFailed := sqlfile.FailAt(context.WithValue(r.Context(), countdownKey{}, n), statement)
		failed = func() bool { return n.failed || statementFailed() }
		inner.ServeHTTP(w, r.WithContext(ctx))
	})
	for _, r := range allRequests(id) {

		for _, at := range []*int{&statement, &call} {
			for *at = 1; ; *at++ {
				status, answer := h.call(r.method, v1+r.path, r.body)
				if !failed() {
					if at == &statement {
						require.Less(t, status, 300, "%s %s: %v", r.method, r.path, answer)
					}
					break
				}
				require.GreaterOrEqual(t, status, 500, "%s %s: statement %d, call %d: %v", r.method, r.path, statement, call, answer)
			}
			*at = 0
		}
	}
}
