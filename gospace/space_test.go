package gospace_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/gate/native"
	. "leasehold/gospace"
	"leasehold/shared/fault"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ SpaceFrame = &Space{}

type person struct {
	Name string
	Age  map[string]int
}

func double(n int) int { return 2 * n }

func local(t *testing.T, policy ...*ComposablePolicy) Space {
	s := NewSpace(t.Name(), policy...)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// bound gets ("x", value) with a pointer to zero, and returns what was bound and the field.
func bound[T any](t *testing.T, s Space, value T) (T, any) {
	_, err := s.Put("x", &value)
	require.NoError(t, err)
	var v T
	_, err = s.QueryP("x", value)
	require.NoError(t, err, "an equal value matches")
	found, err := s.GetP("x", &v)
	require.NoError(t, err)
	return v, found.GetFieldAt(1)
}

func check[T any](t *testing.T, s Space, value T) {
	t.Helper()
	v, field := bound(t, s, value)
	require.Equal(t, value, v)
	require.Equal(t, any(value), field)
}

func TestValuesOfEveryTypeAreMatchedAndBound(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Space{"local": local(t), "remote": joined(t)} {
		t.Run(name, func(t *testing.T) {
			check(t, s, true)
			check(t, s, 1)
			check(t, s, int8(-8))
			check(t, s, int16(-16))
			check(t, s, int32(1))
			check(t, s, int64(1))
			check(t, s, uint(7))
			check(t, s, uint8(7))
			check(t, s, float32(0.5))
			check(t, s, 0.5)
			check(t, s, complex(1, 2))
			check(t, s, "a")
			check(t, s, []byte{1, 2})
			check(t, s, []string{"a", "b"})
			check(t, s, map[string]int{"a": 1, "b": 2, "c": 3})
			check(t, s, person{"Ann", map[string]int{"years": 40, "months": 3}})
			check(t, s, time.Date(2018, 4, 29, 0, 0, 0, 0, time.UTC))
			check(t, s, CreateTuple("nested", 1, nil, int8(3)))
			check(t, s, NewLabel("red"))
			check(t, s, NewLabels(NewLabel("red"), NewLabel("blue")))
			check(t, s, NewLabelledTuple(NewLabels(NewLabel("red")), 1))
			check(t, s, CreateTemplate("a", new(int), new(person)))
			f, _ := bound(t, s, double)
			require.Equal(t, 4, f(2))
		})
	}
}

func TestATemplateMatchesExactTypes(t *testing.T) {
	t.Parallel()
	var anything interface{} = 5
	for _, c := range []struct {
		name     string
		tuple    []any
		template []any
		found    bool
	}{
		{"int is not int64", []any{1}, []any{new(int64)}, false},
		{"int is not int8", []any{1}, []any{new(int8)}, false},
		{"another arity", []any{1}, []any{1, 2}, false},
		{"nil matches nil", []any{nil}, []any{nil}, true},
		{"nil is not a string", []any{nil}, []any{new(string)}, false},
		{"a type that was not used before", []any{1}, []any{new(struct{ A int })}, false},
		{"a pointer to an interface stands for what it holds", []any{7}, []any{&anything}, true},
		{"and for no other type", []any{"a"}, []any{&anything}, false},
		{"a nil pointer stands for its type", []any{7}, []any{(*int)(nil)}, true},
		{"functions match by name", []any{double}, []any{double}, true},
		{"functions match by type", []any{double}, []any{new(func(string))}, false},
		{"labels match as sets", []any{NewLabels(NewLabel("a"), NewLabel("b"))}, []any{NewLabels(NewLabel("b"), NewLabel("a"))}, true},
		{"the empty tuple", []any{}, []any{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := local(t)
			_, err := s.Put(c.tuple...)
			require.NoError(t, err)
			_, err = s.QueryP(c.template...)
			if c.found {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrNoMatch)
		})
	}
}

func TestNothingIsBoundByAllByAMissAndWithoutBinding(t *testing.T) {
	t.Parallel()
	s := local(t)
	n := -1
	_, err := s.GetP(&n)
	require.ErrorIs(t, err, ErrNoMatch)
	require.IsType(t, SpaceError{}, err)
	_, err = s.Put(5)
	require.NoError(t, err)
	all, err := s.QueryAll(&n)
	require.NoError(t, err)
	require.Equal(t, []Tuple{CreateTuple(5)}, all)
	found, err := s.WithoutBinding().QueryP(&n)
	require.NoError(t, err)
	require.Equal(t, -1, n)
	require.True(t, found.WriteToVariables(&n))
	require.Equal(t, 5, n)
	_, err = s.QueryP(&n)
	require.NoError(t, err)
	require.Equal(t, 5, n)
}

func TestTheOldestMatchIsFirst(t *testing.T) {
	t.Parallel()
	s := local(t)
	for i := range 4 {
		_, err := s.PutP(i)
		require.NoError(t, err)
	}
	size, err := s.Size()
	require.NoError(t, err)
	require.Equal(t, 4, size)
	for want := range 4 {
		var i int
		_, err := s.Get(&i)
		require.NoError(t, err)
		require.Equal(t, want, i)
	}
	all, err := s.GetAll(new(int))
	require.NoError(t, err)
	require.Equal(t, []Tuple{}, all)
}

func TestABlockedGetIsWokenByAPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSpace("blocked")
		var n int
		var running sync.WaitGroup
		running.Go(func() {
			_, err := s.Get("job", &n)
			require.NoError(t, err)
		})
		synctest.Wait()
		_, err := s.Put("job", 3)
		require.NoError(t, err)
		running.Wait()
		require.Equal(t, 3, n)
		require.NoError(t, s.Close())
	})
}

func TestCloseAndAContextEndWaitingOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSpace("ending")
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		_, err := s.WithContext(ctx).Get("never")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var running sync.WaitGroup
		running.Go(func() {
			_, err := s.Query("never")
			require.ErrorIs(t, err, fault.ErrClosed)
		})
		synctest.Wait()
		require.NoError(t, s.Close())
		running.Wait()
		_, err = s.Put(1)
		require.ErrorIs(t, err, fault.ErrClosed)
		require.NoError(t, s.Close())
	})
}

func TestInvalidSpacesAndFieldsAreErrors(t *testing.T) {
	t.Parallel()
	var none *Space
	_, err := none.Put(1)
	require.ErrorIs(t, err, fault.ErrInvalid)
	zero, p := Space{}, NewComposablePolicy()
	for name, s := range map[string]*Space{"zero": &zero, "": nil, "http://localhost/a": nil, "tcp://localhost": nil, "localhost:1/a": nil, "tcp:///a": nil, "tcp://localhost:99999/a": nil} {
		if s == nil {
			made := NewSpace(name)
			s = &made
		}
		found, err := s.GetP(1)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
		require.Equal(t, CreateTuple(nil), found)
		size, err := s.Size()
		require.Error(t, err)
		require.Equal(t, -1, size)
	}
	two := NewSpace("two policies", p, p)
	_, err = two.Put(1)
	require.ErrorIs(t, err, fault.ErrInvalid)

	s := local(t)
	for _, f := range []any{(*int)(nil), make(chan int), (func())(nil)} {
		_, err = s.Put(f)
		require.ErrorIs(t, err, fault.ErrInvalid)
	}
	var empty interface{}
	_, err = s.GetP(&empty)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestASpaceOfThisProcessIsSharedByItsName(t *testing.T) {
	t.Parallel()
	a, b, c := NewSpace("shared"), NewSpace("shared"), NewRemoteSpace("shared")
	_, err := a.Put(1)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	_, err = b.QueryP(1)
	require.NoError(t, err)
	_, err = c.GetP(1)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	require.NoError(t, c.Close())
}

// gate runs a coordinator's engine and gate, and returns the address.
func gate(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	e, err := engine.Open(ctx, engine.Config{Journal: &journal.Memory{}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = native.New(native.Config{Engine: e}).Serve(ctx, l) })
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	return l.Addr().String()
}

func joined(t *testing.T) Space {
	s := NewRemoteSpace("tcp://" + gate(t) + "/joined")
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestTwoProgramsShareARemoteSpace(t *testing.T) {
	t.Parallel()
	uri := "tcp://" + gate(t) + "/pingpong"
	alice, bob := NewSpace(uri), NewRemoteSpace(uri) // NewSpace joins, because the address is taken
	var running sync.WaitGroup
	running.Go(func() {
		for i := range 100 {
			_, err := alice.Put("ping", i)
			require.NoError(t, err)
			_, err = alice.Get("pong", i)
			require.NoError(t, err)
		}
	})
	for range 100 {
		var i int
		_, err := bob.Get("ping", &i)
		require.NoError(t, err)
		_, err = bob.Put("pong", i)
		require.NoError(t, err)
	}
	running.Wait()
	size, err := bob.Size()
	require.NoError(t, err)
	require.Zero(t, size)
	require.NoError(t, alice.Close())
	require.NoError(t, bob.Close())
}

func TestClosingASpaceThatConnectsEndsItsCalls(t *testing.T) {
	t.Parallel()
	s := NewRemoteSpace("tcp://" + freeAddress() + "/nothing")
	var running sync.WaitGroup
	running.Go(func() {
		_, err := s.Get(1)
		require.ErrorIs(t, err, fault.ErrClosed)
	})
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	_, err := s.WithContext(ctx).GetP(1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, s.Close())
	running.Wait()
}
