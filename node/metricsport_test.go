package node

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/exposition"
	"leasehold/shared/space"
	"leasehold/worker"
)

// newReaders returns readers whose coordinator answers with err, and how often it was asked.
func newReaders(err *error) (x *readers, asked *int) {
	asked = new(int)
	x = &readers{turn: make(chan struct{}, 1), known: map[[sha256.Size]byte]time.Time{}, ask: func(context.Context, string) error {
		*asked++
		return *err
	}}
	return x, asked
}

// status requests the metrics with a header, and returns the status of the answer.
func (x *readers) status(t *testing.T, authorization string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	r.Header.Set("Authorization", authorization)
	w := httptest.NewRecorder()
	x.admit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })).ServeHTTP(w, r)
	return w.Code
}

func TestMetricsAreForReadersAndRefusedWhileTheCoordinatorCannotBeAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header string
		answer error
		want   int
	}{
		"a reader":           {"Bearer a", nil, http.StatusOK},
		"another case":       {"bearer  a ", nil, http.StatusOK},
		"no token":           {"", nil, http.StatusUnauthorized},
		"an empty token":     {"Bearer ", nil, http.StatusUnauthorized},
		"a password":         {"Basic a", nil, http.StatusUnauthorized},
		"an unknown token":   {"Bearer a", fault.ErrUnauthenticated, http.StatusUnauthorized},
		"another role":       {"Bearer a", fault.ErrForbidden, http.StatusForbidden},
		"no coordinator":     {"Bearer a", fault.ErrUnavailable, http.StatusServiceUnavailable},
		"a busy coordinator": {"Bearer a", fault.ErrOverloaded, http.StatusServiceUnavailable},
		"any other error":    {"Bearer a", fmt.Errorf("broken"), http.StatusServiceUnavailable},
	} {
		x, _ := newReaders(&c.answer)
		require.Equal(t, c.want, x.status(t, c.header), name)
	}
}

func TestATokenIsAskedAboutOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answer error
		x, asked := newReaders(&answer)
		for range 3 {
			require.Equal(t, http.StatusOK, x.status(t, "Bearer a"))
		}
		require.Equal(t, 1, *asked)
		answer = fault.ErrUnauthenticated // it was revoked
		time.Sleep(readerLife)
		require.Equal(t, http.StatusUnauthorized, x.status(t, "Bearer a"))
		answer = nil
		for n := range 3 * maxReaders {
			require.Equal(t, http.StatusOK, x.status(t, fmt.Sprintf("Bearer %d", n)))
		}
		require.LessOrEqual(t, len(x.known), maxReaders)
	})
}

func TestARequestWaitsForItsTurnToAskForALimitedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var answer error
		x, asked := newReaders(&answer)
		x.turn <- struct{}{}
		require.Equal(t, http.StatusServiceUnavailable, x.status(t, "Bearer a"))
		require.Zero(t, *asked)
	})
}

func TestOnlyNamesOfThisMachineReachMetricsOnLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{"127.0.0.1:7414": http.StatusOK, "localhost": http.StatusOK, "attacker.example": http.StatusMisdirectedRequest} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.Host = host
		w := httptest.NewRecorder()
		forThisMachine(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		require.Equal(t, want, w.Code, host)
	}
}

// linted returns the metrics of a collector, which must be named as Prometheus wants.
func linted(t *testing.T, c exposition.Collector) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	w := httptest.NewRecorder()
	exposition.Handler(registry).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	problems, err := promlint.New(strings.NewReader(w.Body.String())).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	return w.Body.String()
}

// visitsOf is a flow whose visits end as given.
type visitsOf struct {
	manager.Flow
	outcome models.Outcome
	err     error
}

func (v visitsOf) Visit(context.Context, models.Visit) (models.Outcome, error) {
	return v.outcome, v.err
}

// taskOf is a job of an action.
type taskOf struct {
	worker.Job
	action string
}

func (j taskOf) Task() models.Task { return models.Task{Action: j.action} }

func TestAProcessMeasuresItsTasksAndVisits(t *testing.T) {
	t.Parallel()
	f := newFigures(3)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx context.Context
		err error
	}{{t.Context(), nil}, {t.Context(), fault.ErrInvalid}, {ended, fault.ErrClosed}} {
		h := f.measureTasks(worker.HandlerFunc(func(context.Context, worker.Job) error { return c.err }))
		require.ErrorIs(t, h.Handle(c.ctx, taskOf{action: "count"}), c.err)
	}
	require.Panics(t, func() {
		_ = f.measureTasks(worker.HandlerFunc(func(context.Context, worker.Job) error { panic("x") })).Handle(t.Context(), taskOf{action: "count"})
	})
	connect := f.counting(func(context.Context) (space.Repository, error) { return nil, nil })
	for range 2 {
		_, err := connect(t.Context())
		require.NoError(t, err)
	}
	f.beats()
	text := linted(t, f.collect(true))
	require.Equal(t, 3, strings.Count(text, "\nleasehold_process_task_seconds_count"), "done, failed, stopped")
	require.Contains(t, text, "\nleasehold_process_heartbeat_age_seconds ")
	require.EqualValues(t, 2, f.tasks[endedAs{"count", "failed"}].Snapshot().Count, "the panic too")
	require.Equal(t, map[string]int{"count": 0}, f.running)

	m := newFigures(1)
	flows := m.measureVisits(map[models.FlowName]manager.Flow{models.ArchiveFlow: visitsOf{outcome: models.Outcome{Status: models.Eventful, Items: 7}}, models.IndexFlow: visitsOf{err: fault.ErrNotFound}})
	_, err := flows[models.ArchiveFlow].Visit(t.Context(), models.Visit{Origin: models.Origin{Kind: models.Feed}})
	require.NoError(t, err)
	_, err = flows[models.IndexFlow].Visit(t.Context(), models.Visit{Origin: models.Origin{Kind: models.Git}})
	require.ErrorIs(t, err, fault.ErrNotFound)
	text = linted(t, m.collect(false))
	require.Equal(t, 2, strings.Count(text, "\nleasehold_process_visit_seconds_count"))
	require.Contains(t, text, "\nleasehold_process_items_listed_total 7\n")
	require.NotContains(t, text, "leasehold_process_heartbeat_age_seconds", "no heartbeat has arrived")
}
