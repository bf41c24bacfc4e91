package worktest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
	"leasehold/shared/visit"
)

var visitScenarios = []scenario{
	{"VisitIsTakenAndEnds", visitEnds},
	{"VisitOfALostManagerIsLost", func(h *house) { visitLost(h, (*actor).die) }},
	{"VisitThatTakesTooLongIsLost", func(h *house) { visitLost(h, func(*actor) { h.pass(visitTTL) }) }},
	{"VisitOfAManagerThatStopsIsHandedBack", visitHandedBack},
	{"VisitPutAgainChangesNothing", visitTwice},
	{"VisitThatMakesNoSenseFails", visitCorrupt},
	{"VisitRefusesWhatItCannotKeep", visitRefuses},
}

func visitOf(id string) models.Visit {
	return models.Visit{ID: id, Origin: models.Origin{ID: "o-" + id, Kind: models.Feed, URI: "https://example.org/feed"}}
}

func (a *actor) takes() (models.Visit, bool) {
	a.h.Helper()
	ctx, cancel := context.WithTimeout(a.h.Context(), time.Nanosecond)
	defer cancel()
	v, err := a.visit.Take(ctx)
	return v, err == nil
}

// recorded takes the outcome of a visit, as the coordinator does.
func (h *house) recorded() models.Outcome {
	h.Helper()
	t, ok, err := h.admin.Space(task.Result).GetP(h.Context(), task.AnyResult(visit.Action))
	require.NoError(h, err)
	require.True(h, ok)
	var o models.Outcome
	require.NoError(h, json.Unmarshal([]byte(task.DecodeResult(t).Body), &o))
	return o
}

func (h *house) putVisit(v models.Visit) {
	h.Helper()
	require.NoError(h, visit.Client{Repo: h.admin}.Put(h.Context(), v))
}

func visitEnds(h *house) {
	m := h.manager("manager-1")
	h.putVisit(visitOf("v1"))
	h.putVisit(visitOf("v2"))
	v, ok := m.takes()
	require.True(h, ok)
	require.Equal(h, visitOf("v1"), v, "the oldest")
	o := models.Outcome{Visit: "v1", Origin: "o-v1", Status: models.Eventful, Items: 3, At: time.Now().UTC()}
	require.NoError(h, m.visit.End(h.Context(), o))
	require.ErrorIs(h, m.visit.End(h.Context(), o), fault.ErrStaleToken, "twice")
	require.Equal(h, o, h.recorded())
	require.ErrorIs(h, m.visit.End(h.Context(), models.Outcome{Visit: "v2"}), fault.ErrStaleToken, "not taken")
}

func visitLost(h *house, end func(*actor)) {
	m := h.manager("manager-1")
	h.putVisit(visitOf("v1"))
	_, ok := m.takes()
	require.True(h, ok)
	end(m)
	o := h.recorded()
	require.Equal(h, models.Lost, o.Status)
	require.Equal(h, "v1", o.Visit)
	require.Equal(h, "o-v1", o.Origin)
	require.Contains(h, o.Error, "manager-1")
	late := h.manager("manager-2").visit.End(h.Context(), models.Outcome{Visit: "v1", Status: models.Eventful})
	require.ErrorIs(h, late, fault.ErrStaleToken)
	_, ok = h.manager("manager-3").takes()
	require.False(h, ok)
	require.Zero(h, h.count(task.Result, task.AnyResult(visit.Action)))
}

func visitHandedBack(h *house) {
	m1, m2 := h.manager("manager-1"), h.manager("manager-2")
	h.putVisit(visitOf("v1"))
	h.putVisit(visitOf("v2"))
	v1, _ := m1.takes()
	m1.leave()
	v, ok := m2.takes()
	require.True(h, ok)
	require.Equal(h, v1, v)
	require.Zero(h, h.count(task.Result, task.AnyResult(visit.Action)))
}

func visitTwice(h *house) {
	m := h.manager("manager-1")
	again := func(where string) {
		h.Helper()
		h.putVisit(visitOf("v1"))
		require.LessOrEqual(h, h.count(visit.Space, visit.Any()), 1, where)
	}
	h.putVisit(visitOf("v1"))
	again("waits")
	_, ok := m.takes()
	require.True(h, ok)
	again("is held")
	require.NoError(h, m.visit.End(h.Context(), models.Outcome{Visit: "v1", Status: models.Uneventful}))
	again("has an outcome")
	_, ok = m.takes()
	require.False(h, ok, "it was visited once")
	h.recorded()
	again("is recorded")
	_, ok = m.takes()
	require.True(h, ok, "that was another time")
}

func visitCorrupt(h *house) {
	m := h.manager("manager-1")
	h.put(visit.Space, tuple.New("visit", "feed", "o1", "v1", "garbage"))
	h.put(visit.Space, tuple.New("visit", "feed", "", "", ""))
	h.putVisit(visitOf("v2"))
	v, err := m.visit.Take(h.Context())
	require.NoError(h, err)
	require.Equal(h, "v2", v.ID)
	o := h.recorded()
	require.Equal(h, models.Failed, o.Status)
	require.Equal(h, "v1", o.Visit)
	require.Contains(h, o.Error, "body")
}

func visitRefuses(h *house) {
	m := h.manager("manager-1")
	for procedure, args := range map[string]tuple.Tuple{
		"visit.put":  tuple.New(tuple.New("visit", "feed", "o1", "a visit", "{}")),
		"visit.take": tuple.New("x"),
		"visit.end":  tuple.New("v1", "garbage"),
	} {
		_, err := m.repo.Call(h.Context(), space.OpID{}, procedure, args)
		require.ErrorIs(h, err, fault.ErrInvalid, procedure)
	}
	require.ErrorIs(h, m.visit.Put(h.Context(), models.Visit{}), fault.ErrInvalid)
}
