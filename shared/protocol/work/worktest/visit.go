package worktest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var visitScenarios = []scenario{
	{"VisitIsTakenAndEnds", visitEnds},
	{"VisitOfALostManagerIsLost", func(f *fixture) { visitLost(f, (*session).kill) }},
	{"VisitThatTakesTooLongIsLost", func(f *fixture) { visitLost(f, func(*session) { f.pass(visitTTL) }) }},
	{"VisitOfAManagerThatStopsIsHandedBack", visitHandedBack},
	{"VisitPutAgainChangesNothing", visitTwice},
	{"VisitThatMakesNoSenseFails", visitCorrupt},
	{"VisitRefusesWhatItCannotKeep", visitRefuses},
}

func visitOf(id string) models.Visit {
	return models.Visit{ID: id, Origin: models.Origin{ID: "o-" + id, Kind: models.Feed, URI: "https://example.org/feed"}}
}

// takeVisit takes a visit, and reports whether one was there.
func (s *session) takeVisit() (models.Visit, bool) {
	s.f.Helper()
	ctx, cancel := context.WithTimeout(s.f.Context(), time.Nanosecond)
	defer cancel()
	v, err := s.visit.Take(ctx)
	return v, err == nil
}

// takeOutcome takes the outcome of a visit, as the coordinator does.
func (f *fixture) takeOutcome() models.Outcome {
	f.Helper()
	t, ok, err := f.admin.Space(task.Result).GetP(f.Context(), task.AnyResult(visit.Action))
	require.NoError(f, err)
	require.True(f, ok)
	var o models.Outcome
	require.NoError(f, json.Unmarshal([]byte(task.DecodeResult(t).Body), &o))
	return o
}

func (f *fixture) putVisit(v models.Visit) {
	f.Helper()
	require.NoError(f, visit.Client{Repo: f.admin}.Put(f.Context(), v))
}

// visitEnds checks that a visit is taken, the oldest first, and ended once, and only by the
// session that took it.
func visitEnds(f *fixture) {
	m := f.manager("manager-1")
	f.putVisit(visitOf("v1"))
	f.putVisit(visitOf("v2"))
	v, ok := m.takeVisit()
	require.True(f, ok)
	require.Equal(f, visitOf("v1"), v, "the oldest")
	o := models.Outcome{Visit: "v1", Origin: "o-v1", Status: models.Eventful, Items: 3, At: time.Now().UTC()}
	require.NoError(f, m.visit.End(f.Context(), o))
	require.ErrorIs(f, m.visit.End(f.Context(), o), fault.ErrStaleToken, "twice")
	require.Equal(f, o, f.takeOutcome())
	require.ErrorIs(f, m.visit.End(f.Context(), models.Outcome{Visit: "v2"}), fault.ErrStaleToken, "not taken")
}

// visitLost checks that a visit whose manager is lost, or takes too long (end), has the outcome
// Lost, and that a later outcome of it is refused.
func visitLost(f *fixture, end func(*session)) {
	m := f.manager("manager-1")
	f.putVisit(visitOf("v1"))
	_, ok := m.takeVisit()
	require.True(f, ok)
	end(m)
	o := f.takeOutcome()
	require.Equal(f, models.Lost, o.Status)
	require.Equal(f, "v1", o.Visit)
	require.Equal(f, "o-v1", o.Origin)
	require.Contains(f, o.Error, "manager-1")
	late := f.manager("manager-2").visit.End(f.Context(), models.Outcome{Visit: "v1", Status: models.Eventful})
	require.ErrorIs(f, late, fault.ErrStaleToken)
	_, ok = f.manager("manager-3").takeVisit()
	require.False(f, ok)
	require.Zero(f, f.count(task.Result, task.AnyResult(visit.Action)))
}

// visitHandedBack checks that a visit goes back to its old place if its manager closes its
// session.
func visitHandedBack(f *fixture) {
	m1, m2 := f.manager("manager-1"), f.manager("manager-2")
	f.putVisit(visitOf("v1"))
	f.putVisit(visitOf("v2"))
	v1, _ := m1.takeVisit()
	m1.closeInOrder()
	v, ok := m2.takeVisit()
	require.True(f, ok)
	require.Equal(f, v1, v)
	require.Zero(f, f.count(task.Result, task.AnyResult(visit.Action)))
}

// visitTwice checks that putting a visit again changes nothing while it waits, is held, or has an unrecorded outcome.
func visitTwice(f *fixture) {
	m := f.manager("manager-1")
	again := func(where string) {
		f.Helper()
		f.putVisit(visitOf("v1"))
		require.LessOrEqual(f, f.count(visit.Space, visit.Any()), 1, where)
	}
	f.putVisit(visitOf("v1"))
	again("waits")
	_, ok := m.takeVisit()
	require.True(f, ok)
	again("is held")
	require.NoError(f, m.visit.End(f.Context(), models.Outcome{Visit: "v1", Status: models.Uneventful}))
	again("has an outcome")
	_, ok = m.takeVisit()
	require.False(f, ok, "it was visited once")
	f.takeOutcome()
	again("is recorded")
	_, ok = m.takeVisit()
	require.True(f, ok, "that was another time")
}

// visitCorrupt checks that a malformed visit fails with an outcome, if it names its origin, and
// does not stop the others.
func visitCorrupt(f *fixture) {
	m := f.manager("manager-1")
	f.put(visit.Space, tuple.New("visit", "feed", "o1", "v1", "garbage"))
	f.put(visit.Space, tuple.New("visit", "feed", "", "", ""))
	f.putVisit(visitOf("v2"))
	v, err := m.visit.Take(f.Context())
	require.NoError(f, err)
	require.Equal(f, "v2", v.ID)
	o := f.takeOutcome()
	require.Equal(f, models.Failed, o.Status)
	require.Equal(f, "v1", o.Visit)
	require.Contains(f, o.Error, "body")
}

// visitRefuses checks which visits and outcomes fail with fault.ErrInvalid.
func visitRefuses(f *fixture) {
	m := f.manager("manager-1")
	for procedure, args := range map[string]tuple.Tuple{
		"visit.put":  tuple.New(tuple.New("visit", "feed", "o1", "a visit", "{}")),
		"visit.take": tuple.New("x"),
		"visit.end":  tuple.New("v1", "garbage"),
	} {
		_, err := m.repo.Call(f.Context(), space.OpID{}, procedure, args)
		require.ErrorIs(f, err, fault.ErrInvalid, procedure)
	}
	require.ErrorIs(f, m.visit.Put(f.Context(), models.Visit{}), fault.ErrInvalid)
}
