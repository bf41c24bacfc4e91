package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// start runs an engine until the test ends, and opens a session at it.
func start(t testing.TB, c engine.Config) (*engine.Engine, space.Repository) {
	t.Helper()
	if c.Journal == nil {
		c.Journal = &journal.Memory{}
	}
	e, err := engine.Open(t.Context(), c)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	r, err := e.Session(t.Context(), "test-1", 0)
	require.NoError(t, err)
	return e, r
}

func BenchmarkPutGetP(b *testing.B) {
	for _, others := range []int{0, 100, 100_000} {
		b.Run(map[int]string{0: "empty", 100: "100", 100_000: "100000"}[others], func(b *testing.B) {
			_, r := start(b, engine.Config{})
			ctx := context.Background()
			require.NoError(b, r.Create(ctx, "s", space.Options{}))
			s := r.Space("s")
			pad := strings.Repeat("x", 160)
			for i := range others {
				require.NoError(b, s.Put(ctx, tuple.New("other", int64(i), pad), 0))
			}
			t, p := tuple.New("item", int64(7), pad), tuple.Match("item", tuple.AnyInt64, tuple.AnyString)
			for b.Loop() {
				if err := s.Put(ctx, t, 0); err != nil {
					b.Fatal(err)
				}
				if _, ok, err := s.GetP(ctx, p); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func TestSmoke(t *testing.T) {
	_, r := start(t, engine.Config{})
	ctx := t.Context()
	require.NoError(t, r.Create(ctx, "s", space.Options{}))
	s := r.Space("s")
	got := make(chan tuple.Tuple)
	go func() { x, _ := s.Get(ctx, tuple.Match("a", tuple.AnyInt64)); got <- x }()
	require.NoError(t, s.Put(ctx, tuple.New("a", int64(1)), 0))
	require.Equal(t, tuple.New("a", int64(1)), <-got)
}
