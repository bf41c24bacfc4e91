package spacetest

import (
	"math"

	"github.com/stretchr/testify/require"

	"leasehold/shared/tuple"
)

// values are fields that a template must distinguish; 13 of them equal only themselves.
var values = []any{
	nil, false, true, 1, int32(1), int64(1), float32(1), 1.0, "1", []byte("1"),
	tuple.New(1), tuple.New(int64(1)), tuple.New(), tuple.Opaque{Name: "n", JSON: "1"}, tuple.Opaque{Name: "n", JSON: "2"},
	math.NaN(), 0.0, math.Inf(-1), "", []byte{},
}

var indexing = []behaviour{
	{"values of different types or values are different", func(w *fixture) {
		for _, v := range values {
			require.NoError(w, w.s.Put(w.Context(), tuple.New(v), 0))
		}
		for _, v := range values {
			n, err := w.s.Count(w.Context(), tuple.Match(v))
			require.NoError(w, err)
			require.Equal(w, 1, n, "%T %v", v, v)
		}
	}},
	{"the same among many tuples of each signature", func(w *fixture) {
		for n := range 20 {
			for _, v := range values {
				require.NoError(w, w.s.Put(w.Context(), tuple.New(v, int64(n)), 0))
			}
		}
		for _, v := range values {
			n, err := w.s.Count(w.Context(), tuple.Match(v, tuple.AnyInt64))
			require.NoError(w, err)
			require.Equal(w, 20, n, "%T %v", v, v)
			got, err := w.s.Get(w.Context(), tuple.Match(v, int64(19)))
			require.NoError(w, err)
			require.True(w, got.Equal(tuple.New(v, int64(19))))
		}
	}},
	{"nan finds nan and zero finds negative zero", func(w *fixture) {
		negative := math.Copysign(0, -1)
		for range 20 { // enough for an index
			require.NoError(w, w.s.Put(w.Context(), tuple.New(math.NaN(), negative), 0))
			require.NoError(w, w.s.Put(w.Context(), tuple.New(float32(math.NaN()), float32(negative)), 0))
		}
		for range 20 {
			_, err := w.s.Get(w.Context(), tuple.Match(math.NaN(), 0.0))
			require.NoError(w, err)
			_, err = w.s.Get(w.Context(), tuple.Match(float32(math.NaN()), float32(0)))
			require.NoError(w, err)
		}
	}},
	{"formals match by type", func(w *fixture) {
		for _, v := range values {
			require.NoError(w, w.s.Put(w.Context(), tuple.New(v), 0))
		}
		for typ, want := range map[tuple.Type]int{
			tuple.Nil: 1, tuple.Bool: 2, tuple.Int: 1, tuple.Int32: 1, tuple.Int64: 1, tuple.Float32: 1, tuple.Float64: 4,
			tuple.String: 2, tuple.Bytes: 2, tuple.Nested: 3, tuple.OpaqueType("n"): 2, tuple.OpaqueType("m"): 0,
		} {
			n, err := w.s.Count(w.Context(), tuple.Match(tuple.Formal{Type: typ}))
			require.NoError(w, err)
			require.Equal(w, want, n, typ)
		}
	}},
	{"every shape of template finds its matches, however many shapes there are", func(w *fixture) {
		const fields, each = 6, 3
		for n := range 40 * each {
			require.NoError(w, w.s.Put(w.Context(), wide(n/each), 0))
		}
		for round := range 2 { // the second time around, what was evicted
			for shape := range 1 << fields {
				n := (shape*7 + round) % 40
				p := tuple.Template(wide(n))
				for i := range fields {
					if shape&(1<<i) == 0 {
						p[i] = tuple.Formal{Type: tuple.TypeOf(p[i])}
					}
				}
				want := 0
				for m := range 40 {
					if p.Matches(wide(m)) {
						want += each
					}
				}
				got, err := w.s.Count(w.Context(), p)
				require.NoError(w, err)
				require.Equal(w, want, got, "%s", p)
			}
		}
		all, err := w.s.GetAll(w.Context(), wide(0).Exactly())
		require.NoError(w, err)
		require.Len(w, all, each)
	}},
}

// wide returns the n-th tuple of six fields; some of the fields are equal in many tuples.
func wide(n int) tuple.Tuple {
	return tuple.New(int64(n), n%2 == 0, n%3, int32(n%5), "x", []byte{byte(n % 7)})
}
