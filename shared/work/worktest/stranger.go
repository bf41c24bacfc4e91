package worktest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

var strangerScenarios = []scenario{
	{"TasksThatMakeNoSenseDoNotStopTheOthers", corruptTasks},
	{"AStrangersTaskIsDone", strangersTask},
	{"AStrangersTaskCannotEndALease", strangersLease},
	{"NobodyButTheEngineMayExpire", forgedExpiry},
}

func corruptTasks(h *house) {
	w, m := h.worker("worker-1", 2), h.manager("manager-1")
	bodies := []string{"", "garbage", "[]", `{"timeout":0}`, `{"timeout":-1}`, `{"timeout":1e300}`, `{"timeout":1,"attempts":99}`, `{"attempts":"x"}`,
		`{"timeout":1,"data":"` + strings.Repeat("x", 800_000) + `"}`, strings.Repeat("\xff", 1_000_000)}
	for n, body := range bodies {
		h.put(task.Space, tuple.New("task", dig, strings.Repeat("i", 1+n*1000), "", int64(0), int64(99), body))
	}
	issued, err := m.work.Issue(h.Context(), m.look(), toDig("site", "a"), 0)
	require.NoError(h, err)
	require.False(h, issued, "they count as waiting")
	_, ok := w.claims()
	require.False(h, ok, "but are never claimed")

	require.NoError(h, m.task.Unstick(h.Context(), dig))
	require.Equal(h, len(bodies), h.state().dead)
	require.Zero(h, h.count(task.Space, task.Any()))
	require.Equal(h, len(bodies), h.count(status.Log, tuple.Match("log", tuple.AnyString, tuple.AnyString, "error", tuple.AnyString)))
	m.issue(toDig("site", "a"), 0)
	require.NoError(h, w.report(w.claim(), "a", true))
	m.ingest()
}

func strangersTask(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	h.put(task.Space, tuple.New("task", dig, "theirs", "", int64(7), int64(0), `{"timeout":60,"subject":"site"}`))
	for range maxAttempts {
		i := w.claim()
		require.Equal(h, "theirs", i.ID)
		h.pass(time.Minute + backoff)
	}
	require.NoError(h, w.report(w.claim(), "", true))
	require.Equal(h, "site", m.ingest().Subject)
	h.put(task.Space, tuple.New("task", dig, "theirs", "", int64(7), int64(0), `{"timeout":60,"subject":"site"}`))
	for range maxAttempts + 1 {
		w.claim()
		h.pass(time.Minute + backoff)
	}
	require.Equal(h, 1, h.state().dead)
	require.Empty(h, h.state().results, "nobody selected it")
}

func strangersLease(h *house) {
	m := h.manager("manager-1")
	l, err := m.grant("site", "", time.Minute)
	require.NoError(h, err)
	for _, body := range []string{"garbage", `{"timeout":1,"attempts":99}`} {
		h.put(task.Space, tuple.New("task", dig, "theirs", l.ID, int64(0), int64(0), body))
	}
	require.NoError(h, m.task.Unstick(h.Context(), dig))
	require.Equal(h, 2, h.state().dead)
	require.Equal(h, l, h.onlyLease())
	m.ingest() // the failure that the second one left
	require.Equal(h, l, h.onlyLease())
	require.NoError(h, m.revoke(l.ID, l.Token))
}

func forgedExpiry(h *house) {
	w, m := h.worker("worker-1", 1), h.manager("manager-1")
	require.NoError(h, m.visit.Put(h.Context(), models.Visit{ID: "v1", Origin: models.Origin{ID: "o1"}}))
	m.issue(toDig("site", "a"), 0)
	w.claim()
	before := h.state()
	for _, p := range []string{"lease.expire", "task.timeout", "task.return", "work.expire", "work.drop", "work.return", "visit.lost"} {
		for ref := range int64(20) {
			for _, cause := range []space.Cause{space.Due, space.Lost, space.Closed} {
				x := space.Expired{Ref: ref, Cause: cause, Holder: "worker-1"}
				_, err := m.repo.Call(h.Context(), space.OpID{}, p, x.Args())
				require.ErrorIs(h, err, fault.ErrInvalid)
			}
		}
	}
	require.Equal(h, before, h.state())
	require.Equal(h, 1, h.count(lease.Space, lease.Any()))
}
