package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

var anything = tuple.Match(tuple.AnyString, tuple.AnyInt64)

// TestAgainstANaiveSpace does the same operations on an engine and a naive space, also
// lets time pass, and expects the same results.
func TestAgainstANaiveSpace(t *testing.T) {
	t.Parallel()
	for _, kind := range space.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rapid.Check(bubbled{t}, func(rt *rapid.T) { pairOf(t, rt, kind).check(t, rt) })
			})
		})
	}
}

// bubbled hides the method Deadline, which is not allowed in a bubble.
type bubbled struct{ rapid.TB }

// pair is an engine's space and a naive one.
type pair struct {
	memory *journal.Memory
	stop   func() error
	repo   space.Repository
	model  naive
	trace  follower // knows the same from the trace
	unique int64
}

// pairOf returns an engine and a naive model with a space of a kind, and a random capacity and
// overflow.
func pairOf(t *testing.T, rt *rapid.T, kind space.Kind) *pair {
	p := &pair{memory: &journal.Memory{}}
	o := space.Options{Kind: kind, OrderBy: 1, Capacity: rapid.SampledFrom([]int{3, 40}).Draw(rt, "capacity")}
	o.Overflow = rapid.SampledFrom([]space.Overflow{space.Block, space.DropOldest}).Draw(rt, "overflow")
	p.model.Options = o
	p.start(t)
	require.NoError(rt, p.repo.Create(t.Context(), "s", o))
	require.NoError(rt, p.repo.Create(t.Context(), "log", space.Options{}))
	return p
}

// start starts the engine, or starts it again over its journal, with the same session.
func (p *pair) start(t *testing.T) {
	var e *engine.Engine
	e, p.stop = restartable(t, engine.Config{Journal: p.memory, Trace: p.trace.follow})
	p.repo = session(t, e, "test-1", 24*time.Hour)
}

// check compares engine and model over random operations, passing of time, and restarts.
func (p *pair) check(t *testing.T, rt *rapid.T) {
	defer func() { require.NoError(rt, p.stop()) }()
	rt.Repeat(map[string]func(*rapid.T){
		"": p.same, "put": p.put, "put again": p.put, "find": p.find, "all": p.all,
		"hold": p.hold, "change": p.change, "fail": p.fail,
		"wait": func(rt *rapid.T) {
			time.Sleep(time.Duration(rapid.IntRange(1, 3).Draw(rt, "seconds")) * time.Second)
			p.model.expire()
		},
		"restart": func(rt *rapid.T) {
			_, err := p.call("test.token") // the journal's clock is right afterwards
			require.NoError(rt, err)
			require.NoError(rt, p.stop())
			p.start(t)
		},
	})
}

func (p *pair) call(procedure string, args ...any) (tuple.Tuple, error) {
	return p.repo.Call(context.Background(), space.OpID{}, procedure, args)
}

// item draws a tuple. Those of a random space are unique, so that the test knows which of
// them was found.
func (p *pair) item(rt *rapid.T) tuple.Tuple {
	n := rapid.Int64Range(0, 3).Draw(rt, "n")
	if p.model.Kind == space.Random {
		p.unique++
		n = p.unique
	}
	return tuple.New(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name"), n)
}

// template draws a template of the suite's tuples.
func (p *pair) template(rt *rapid.T) tuple.Template {
	t := tuple.Template(p.item(rt))
	if rapid.Bool().Draw(rt, "any number") {
		t[1] = tuple.AnyInt64
	}
	if rapid.Bool().Draw(rt, "any name") {
		t[0] = tuple.AnyString
	}
	return t
}

func ttl(rt *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}).Draw(rt, "ttl")
}

// in returns the time after d; the zero time, which is never, if d is 0.
func in(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// same expects that both hold the same tuples in the same order.
func (p *pair) same(rt *rapid.T) {
	ctx := context.Background()
	all, err := p.repo.Space("s").QueryAll(ctx, anything)
	require.NoError(rt, err)
	require.Equal(rt, tuplesOf(p.model.all(anything, false)), all)
	for _, name := range []string{"a", "b"} {
		match := tuple.Match(name, tuple.AnyInt64)
		held, err := p.call("test.held", "s", name)
		require.NoError(rt, err)
		require.Len(rt, held, len(p.model.all(match, true)))
		for i, x := range p.model.all(match, true) {
			require.Equal(rt, x.tuple[1], held[i])
		}
	}
	infos, err := p.repo.List(ctx)
	require.NoError(rt, err)
	require.Equal(rt, len(all), infos[1].Visible)
	require.Equal(rt, len(p.model.things)-len(all), infos[1].Held)
	visible, holds, err := p.trace.count("s")
	require.NoError(rt, err)
	require.Equal(rt, []int{infos[1].Visible, infos[1].Held}, []int{visible, holds})
}

// tuplesOf returns the tuples of things in their order.
func tuplesOf(things []*thing) (all []tuple.Tuple) {
	for _, x := range things {
		all = append(all, x.tuple)
	}
	return all
}

// put puts a random item into both; the engine must refuse it exactly if the model is full.
func (p *pair) put(rt *rapid.T) {
	item, ttl := p.item(rt), ttl(rt)
	reply, err := p.call("test.put", "s", item, int64(ttl), "", false)
	if p.model.put(reply.Int64(0), item, in(ttl)) {
		require.NoError(rt, err)
	} else {
		require.ErrorIs(rt, err, fault.ErrOverloaded)
	}
}

// find finds a tuple in the engine, and takes it or not. It must be one of the candidates of the
// model, which are several only in a random space.
func (p *pair) find(rt *rapid.T) {
	match, s, ctx := p.template(rt), p.repo.Space("s"), context.Background()
	candidates := p.model.candidates(match)
	find, takes := s.QueryP, rapid.Bool().Draw(rt, "take")
	if takes {
		find = s.GetP
	}
	got, ok, err := find(ctx, match)
	require.NoError(rt, err)
	require.Equal(rt, len(candidates) > 0, ok)
	if !ok {
		return
	}
	i := slices.IndexFunc(candidates, func(x *thing) bool { return x.tuple.Equal(got) })
	require.GreaterOrEqual(rt, i, 0, "%s is not in %v", got, tuplesOf(candidates))
	if takes {
		p.model.remove(candidates[i])
	}
}

// all compares count and list of all matches, and sometimes takes them.
func (p *pair) all(rt *rapid.T) {
	match, s, ctx := p.template(rt), p.repo.Space("s"), context.Background()
	want := p.model.all(match, false)
	n, err := s.Count(ctx, match)
	require.NoError(rt, err)
	require.Equal(rt, len(want), n)
	all, err := s.QueryAll(ctx, match)
	require.NoError(rt, err)
	require.Equal(rt, tuplesOf(want), all)
	if rapid.IntRange(0, 4).Draw(rt, "take") > 0 {
		return
	}
	all, err = s.GetAll(ctx, match)
	require.NoError(rt, err)
	require.Equal(rt, tuplesOf(want), all)
	for _, x := range want {
		p.model.remove(x)
	}
}

// hold holds a tuple in both, for a random time.
func (p *pair) hold(rt *rapid.T) {
	name, ttl := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name"), ttl(rt)
	candidates := p.model.candidates(tuple.Match(name, tuple.AnyInt64))
	if len(candidates) == 0 {
		return // it would wait
	}
	reply, err := p.call("test.hold", "s", name, int64(ttl), "", false)
	require.NoError(rt, err)
	i := slices.IndexFunc(candidates, func(x *thing) bool { return x.ref == reply.Int64(0) })
	require.GreaterOrEqual(rt, i, 0)
	candidates[i].held, candidates[i].due = true, in(ttl)
}

// change changes one tuple, by its ref.
func (p *pair) change(rt *rapid.T) {
	if len(p.model.things) == 0 {
		return
	}
	x := rapid.SampledFrom(p.model.things).Draw(rt, "thing")
	var err error
	switch what := rapid.SampledFrom([]string{"take", "replace", "extend", "renew", "done", "back"}).Draw(rt, "what"); what {
	case "take":
		_, err = p.call("test.take", x.ref)
		p.model.remove(x)
	case "replace":
		x.tuple = p.item(rt)
		_, err = p.call("test.replace", x.ref, x.tuple)
	case "extend":
		d := ttl(rt)
		_, err = p.call("test.extend", x.ref, int64(d))
		x.deadline = in(d)
	case "renew":
		d := ttl(rt)
		_, err = p.call("test.renew", x.ref, int64(d), "")
		x.held, x.due = true, in(d)
	default:
		p.end(rt, x, what)
	}
	require.NoError(rt, err)
}

// end ends the hold of x, if it is held.
func (p *pair) end(rt *rapid.T, x *thing, what string) {
	fresh := rapid.Bool().Draw(rt, "new place")
	_, err := p.call("test."+what, x.ref, fresh)
	if !x.held {
		require.ErrorIs(rt, err, fault.ErrConflict)
		return
	}
	require.NoError(rt, err)
	if what == "done" {
		p.model.remove(x)
	} else {
		p.model.back(x, fresh)
	}
}

func (p *pair) fail(rt *rapid.T) {
	_, err := p.call("test.fail", "s")
	require.Error(rt, err)
}
