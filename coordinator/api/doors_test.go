package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/gate/foreign"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// doors are the ways by which a client reaches a space.
type doors struct {
	put  map[string]func(name string, t tuple.Tuple) error
	take map[string]func(name string, p tuple.Template) error
}

// openDoors returns the doors of a fixture: a native session, the procedures that it may call with the name of a
// space, HTTP, and the foreign gates.
func openDoors(t *testing.T, h *fixture) doors {
	ctx := t.Context()
	conn, err := h.c.Engine().Connect(ctx, "client-1", 0)
	require.NoError(t, err)
	repo := space.Over(conn)
	in := func(name string) space.Space { return repo.Space(name) }
	atOnce := transaction.Client{Repo: repo}
	hub := openHub(t, h)
	post := func(path, body string) error {
		code, answer := h.call("POST", v1+path, body)
		if code < http.StatusBadRequest {
			return nil
		}
		return fmt.Errorf("%v: %w", answer["detail"], fault.FromCode(answer["code"].(string)))
	}
	operation := func(verb space.Verb, name string, t tuple.Tuple, p interop.Pattern) error {
		o := foreign.Operation{Verb: verb, Space: name, Tuple: t, Pattern: p}
		if err := (foreign.Access{Write: true}).Check(o); err != nil {
			return err
		}
		_, err := hub.Do(ctx, o)
		return err
	}
	one := func(kind, name, key, line string) string {
		return `{"operations":[{"kind":"` + kind + `","space":"` + name + `","` + key + `":` + strconv.Quote(line) + `}]}`
	}
	return doors{
		put: map[string]func(string, tuple.Tuple) error{
			"a put":            func(name string, t tuple.Tuple) error { return in(name).Put(ctx, t, 0) },
			"a put with a TTL": func(name string, t tuple.Tuple) error { return in(name).PutP(ctx, t, time.Hour) },
			"a transaction": func(name string, t tuple.Tuple) error {
				_, err := atOnce.RunP(ctx, transaction.Put(name, t, 0))
				return err
			},
			"a put over HTTP": func(name string, t tuple.Tuple) error {
				return post("/spaces/"+name+"/put", `{"tuple":`+strconv.Quote(t.Line())+`}`)
			},
			"a transaction (HTTP)": func(name string, t tuple.Tuple) error {
				return post("/transactions", one("put", name, "tuple", t.Line()))
			},
			"a foreign gate": func(name string, t tuple.Tuple) error { return operation(space.VerbPutP, name, t, nil) },
		},
		take: map[string]func(string, tuple.Template) error{
			"a getAll": func(name string, p tuple.Template) error { _, err := in(name).GetAll(ctx, p); return err },
			"a transaction": func(name string, p tuple.Template) error {
				_, err := atOnce.RunP(ctx, transaction.Get(name, p))
				return err
			},
			"a transaction (HTTP)": func(name string, p tuple.Template) error {
				return post("/transactions", one("get", name, "template", p.Line()))
			},
			"an acknowledged get": func(name string, p tuple.Template) error {
				_, _, err := hold.Client{Repo: repo}.Take(ctx, name, p, time.Minute, false)
				return err
			},
			"an acknowledged get (HTTP)": func(name string, p tuple.Template) error {
				return post("/spaces/"+name+"/get", `{"ack":true,"template":`+strconv.Quote(p.Line())+`}`)
			},
			"a pattern": func(name string, p tuple.Template) error {
				_, _, err := interop.Client{Repo: repo}.Find(ctx, name, interop.Exactly(p), interop.Options{Take: true})
				return err
			},
			"all of a pattern": func(name string, p tuple.Template) error {
				_, err := interop.Client{Repo: repo}.FindAll(ctx, name, interop.Exactly(p), interop.Options{Take: true})
				return err
			},
			"all at a foreign gate": func(name string, p tuple.Template) error {
				return operation(space.VerbGetAll, name, nil, interop.Exactly(p))
			},
		},
	}
}

// takesOne are further doors to take by. In the space "task" such a get is a claim.
func (d doors) takesOne(t *testing.T, h *fixture) {
	repo := h.connect()
	d.take["a get"] = func(name string, p tuple.Template) error {
		_, _, err := repo.Space(name).GetP(t.Context(), p)
		return err
	}
	d.take["a get over HTTP"] = func(name string, p tuple.Template) error {
		code, answer := h.call("POST", v1+"/spaces/"+name+"/get", `{"template":`+strconv.Quote(p.Line())+`}`)
		if code < http.StatusBadRequest {
			return nil
		}
		return fmt.Errorf("%v: %w", answer["detail"], fault.FromCode(answer["code"].(string)))
	}
}

// openHub runs a hub of foreign gates until the test ends.
func openHub(t *testing.T, h *fixture) *foreign.Hub {
	hub := foreign.NewHub(foreign.Config{Engine: h.c.Engine()})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	return hub
}

// forgeries are, for each space that is open to puts, tuples that only a protocol may put there.
func forgeries(t *testing.T) map[string]map[string]tuple.Tuple {
	task := func(id, lease string, token int64) tuple.Tuple {
		return tuple.New("task", "research", id, lease, token, int64(0), "{}")
	}
	visit := func(v models.Visit) tuple.Tuple {
		return tuple.New("visit", string(v.Origin.Kind), v.Origin.ID, v.ID, marshal(t, v))
	}
	origin := func(uri string) models.Origin { return models.Origin{ID: "o1", Kind: models.Feed, URI: uri} }
	return map[string]map[string]tuple.Tuple{
		"task": {
			"no task": tuple.New("forged"), "a visit": tuple.New("task", "visit", "t9", "", int64(0), int64(0), "{}"),
			"a work-item": task("t9", "lease-1", 0), "another attempt": task("t9", "", 7), "a living id": task("t1", "", 0),
		},
		"result": {
			"a result of another's task": tuple.New("result", "research", "e", "c", "", int64(1), "worker-1", true, "{}"),
			"a leased one of a visit":    tuple.New("result", "visit", "o1", "v1", "lease-1", int64(0), "manager-1", true, `{"visit":"v1"}`),
			"the outcome of a visit":     tuple.New("result", "visit", "o1", "v1", "", int64(0), "manager-1", true, `{"visit":"v1"}`),
		},
		"visit": {
			"no visit":               tuple.New("forged"),
			"a body of another type": tuple.New("visit", "feed", "o1", "v9", "[]"),
			"an operator's origin":   visit(models.Visit{ID: "v9", Origin: origin("http://127.0.0.1/secret")}),
			"a local file":           visit(models.Visit{ID: "v9", Listed: true, Origin: origin("/etc/passwd")}),
			"a local folder":         visit(models.Visit{ID: "v9", Listed: true, Origin: models.Origin{ID: "o1", Kind: models.Media, URI: "/etc"}}),
		},
	}
}

// No client forges or takes what only a protocol puts and takes, whichever door it uses. A new space of a protocol is
// in the table: either only procedures change it, or its forgeries are named.
func TestNoDoorLetsAClientForgeWhatAProtocolWrites(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"research"}`)
	doors, open := openDoors(t, h), forgeries(t)
	before, err := h.repo.List(t.Context())
	require.NoError(t, err)
	for _, d := range coordinator.Definitions() {
		tried := open[d.Name]
		require.NotEqual(t, d.QueryOnly, tried != nil, d.Name)
		if d.QueryOnly {
			tried = map[string]tuple.Tuple{"a tuple": tuple.New("forged")}
		}
		for door, put := range doors.put {
			for what, forged := range tried {
				err := put(d.Name, forged)
				if door == "a foreign gate" && what == "a result of another's task" && err == nil {
					continue // it is late, and only checked
				}
				require.Error(t, err, "%s: %s into %s", door, what, d.Name)
				refused := errors.Is(err, fault.ErrForbidden) || !d.QueryOnly && (errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrStaleToken) || errors.Is(err, fault.ErrConflict))
				require.True(t, refused, "%s: %s into %s: %v", door, what, d.Name, err)
			}
		}
		code, _ := h.call("DELETE", v1+"/spaces/"+d.Name+"?force=true", "")
		require.Equal(t, http.StatusForbidden, code, d.Name)
	}
	after, err := h.repo.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing was put")
}

func TestNoDoorLetsAClientTakeWhatOnlyAProtocolTakes(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"research"}`)
	anyTask := tuple.Match("task", tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString)
	doors := openDoors(t, h)
	for door, take := range doors.take {
		err := take("task", anyTask)
		require.True(t, errors.Is(err, fault.ErrForbidden) || errors.Is(err, fault.ErrInvalid), "%s from task: %v", door, err)
	}
	doors.takesOne(t, h)
	for _, d := range coordinator.Definitions() {
		for door, take := range doors.take {
			if d.QueryOnly {
				require.ErrorIs(t, take(d.Name, tuple.Match(tuple.AnyString)), fault.ErrForbidden, "%s from %s", door, d.Name)
			}
		}
	}
	require.EqualValues(t, "waiting", h.ok("GET", v1+"/tasks/t1", "")["state"])
}

// The numbers of tuples can be guessed, so that the procedures of patterns must not end a claim.
func TestAWorkerCannotRemoveATaskThatItHolds(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.ok("POST", v1+"/tasks", `{"action":"dig"}`)
	repo := h.connect()
	_, found, err := repo.Space("task").GetP(t.Context(), tuple.Match("task", "dig", tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyString))
	require.NoError(t, err)
	require.True(t, found)
	var guesses []interop.Found
	for ref := range int64(1000) {
		guesses = append(guesses, interop.Found{Ref: ref})
	}
	require.NoError(t, interop.Client{Repo: repo}.Done(t.Context(), guesses...))
	require.NoError(t, interop.Client{Repo: repo}.Back(t.Context(), guesses...))
	require.EqualValues(t, "claimed", h.ok("GET", v1+"/tasks/t1", "")["state"])
}

func TestAProgramPutsAVisitOfAnOriginThatAListCouldName(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	v := models.Visit{ID: "v9", Listed: true, Origin: models.Origin{ID: "o1", Kind: models.Feed, URI: "https://example.org/f"}}
	put := tuple.New("visit", "feed", "o1", "v9", marshal(t, v))
	require.NoError(t, h.repo.Space("visit").Put(t.Context(), put, 0))
	require.ErrorIs(t, h.repo.Space("visit").Put(t.Context(), put, 0), fault.ErrConflict)
}
