package spacetest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var bounds = []behaviour{
	{"malformed tuples are refused", func(w *fixture) {
		deep := tuple.New()
		for range tuple.MaxDepth {
			deep = tuple.New(deep)
		}
		for name, u := range map[string]tuple.Tuple{
			"type": tuple.New(uint(1)), "formal": tuple.New(tuple.AnyBool), "wide": make(tuple.Tuple, tuple.MaxArity+1),
			"deep": deep, "large": tuple.New(make([]byte, tuple.MaxBytes)),
		} {
			require.ErrorIs(w, w.s.Put(w.Context(), u, 0), fault.ErrInvalid, name)
			require.ErrorIs(w, w.s.PutP(w.Context(), u, 0), fault.ErrInvalid, name)
			_, err := w.repo.Call(w.Context(), space.OpID{}, "test.token", u)
			require.ErrorIs(w, err, fault.ErrInvalid, name)
		}
		require.Empty(w, w.numbers(w.s))
	}},
	{"malformed templates are refused", func(w *fixture) {
		for _, p := range []tuple.Template{
			tuple.Match(uint(1)), tuple.Match(tuple.Formal{Type: "strnig"}), tuple.Match(tuple.New(tuple.AnyBool)),
			make(tuple.Template, tuple.MaxArity+1),
		} {
			_, err := w.s.Get(w.Context(), p)
			require.ErrorIs(w, err, fault.ErrInvalid)
			_, err = w.s.Count(w.Context(), p)
			require.ErrorIs(w, err, fault.ErrInvalid)
			_, err = w.s.Notify(w.Context(), p)
			require.ErrorIs(w, err, fault.ErrInvalid)
		}
	}},
	{"the largest tuple passes", func(w *fixture) {
		u := tuple.New(strings.Repeat("x", tuple.MaxBytes-5))
		require.NoError(w, w.s.Put(w.Context(), u, 0))
		got, err := w.s.Get(w.Context(), u.Exactly())
		require.NoError(w, err)
		require.True(w, u.Equal(got))
	}},
	{"an answer that is too large is an error, and nothing is taken", func(w *fixture) {
		u := tuple.New("a", int64(1), strings.Repeat("x", tuple.MaxBytes/2))
		for range 9 {
			require.NoError(w, w.s.Put(w.Context(), u, 0))
		}
		_, err := w.s.GetAll(w.Context(), u.Exactly())
		require.ErrorIs(w, err, fault.ErrTooLarge)
		_, err = w.s.QueryAll(w.Context(), u.Exactly())
		require.ErrorIs(w, err, fault.ErrTooLarge)
		for range 2 {
			_, err = w.s.Get(w.Context(), u.Exactly())
			require.NoError(w, err)
		}
		all, err := w.s.GetAll(w.Context(), u.Exactly())
		require.NoError(w, err)
		require.Len(w, all, 7)
	}},
	{"names that are too long are refused", func(w *fixture) {
		long := strings.Repeat("x", space.MaxName+1)
		require.ErrorIs(w, w.repo.Create(w.Context(), long, space.Options{}), fault.ErrInvalid)
		_, err := w.repo.Space(long).Count(w.Context(), anything)
		require.ErrorIs(w, err, fault.ErrInvalid)
		_, err = w.repo.Call(w.Context(), space.OpID{}, long, nil)
		require.ErrorIs(w, err, fault.ErrInvalid)
	}},
	{"the number of spaces is bounded", func(w *fixture) {
		var err error
		for n := 0; n < 100_000 && err == nil; n++ {
			err = w.repo.Create(w.Context(), strings.Repeat("x", n%200)+string(rune('a'+n/200)), space.Options{})
		}
		require.ErrorIs(w, err, fault.ErrOverloaded)
	}},
}
