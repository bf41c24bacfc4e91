package browse_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hold holds the tuples of the space s that match ("t", args...).
func hold(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	for _, e := range tx.Scan("s", tuple.Template(args)) {
		if err := tx.Hold(e.Ref, space.HoldOptions{TTL: time.Hour}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func open(t *testing.T) space.Repository {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{
		Journal:    &journal.Memory{},
		Procedures: space.Join(browse.Procedures(), space.Procedures{"hold": hold}),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() { stop(); require.NoError(t, <-done) })
	repo, err := e.Session(t.Context(), "reader", 0)
	require.NoError(t, err)
	require.NoError(t, repo.Create(t.Context(), "s", space.Options{}))
	return repo
}

func TestAPageHasWhatMatchesOpenOrNotHeldOrNot(t *testing.T) {
	t.Parallel()
	repo := open(t)
	s := repo.Space("s")
	for _, x := range []tuple.Tuple{
		tuple.New("a", int64(1)), tuple.New("b"), tuple.New("a", "x", 2.0), tuple.New("a", int64(2)), tuple.New("a", int64(3)),
	} {
		require.NoError(t, s.Put(t.Context(), x, 0))
	}
	_, err := repo.Call(t.Context(), space.OpID{}, "hold", tuple.New("a", int64(2)))
	require.NoError(t, err)

	for name, c := range map[string]struct {
		q     browse.Query
		want  string
		total int
	}{
		"closed":            {browse.Query{Template: tuple.Match("a", tuple.AnyInt64), Limit: 9}, "a 1|a 3", 2},
		"closed and held":   {browse.Query{Template: tuple.Match("a", tuple.AnyInt64), Held: true, Limit: 9}, "a 1|a 3|a 2*", 3},
		"open":              {browse.Query{Template: tuple.Match("a"), Open: true, Limit: 9}, "a 1|a x 2.0|a 3", 3},
		"open and held":     {browse.Query{Template: tuple.Match("a"), Open: true, Held: true, Limit: 9}, "a 1|a x 2.0|a 2*|a 3", 4},
		"all tuples":        {browse.Query{Open: true, Limit: 9}, "a 1|b|a x 2.0|a 3", 4},
		"a page":            {browse.Query{Open: true, Offset: 1, Limit: 2}, "b|a x 2.0", 4},
		"past the end":      {browse.Query{Open: true, Offset: 7, Limit: 2}, "", 4},
		"only the number":   {browse.Query{Open: true}, "", 4},
		"the closed number": {browse.Query{Template: tuple.Match("a", tuple.AnyInt64)}, "", 2},
		"no match":          {browse.Query{Template: tuple.Match("c"), Open: true, Limit: 9}, "", 0},
		"longer than some":  {browse.Query{Template: tuple.Match("a", tuple.AnyString, tuple.Formal{Type: tuple.Float64}), Open: true, Limit: 9}, "a x 2.0", 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Space = "s"
			page, err := browse.Client{Repo: repo}.Page(t.Context(), c.q)
			require.NoError(t, err)
			var lines []string
			for _, x := range page.Entries {
				line := x.Tuple.Line()
				if x.Held {
					require.Equal(t, "reader", x.Holder)
					line += "*"
				}
				lines = append(lines, line)
			}
			require.Equal(t, c.want, strings.Join(lines, "|"))
			require.Equal(t, c.total, page.Total)
		})
	}
}

func TestAPageTakesAsManyAnswersAsItNeeds(t *testing.T) {
	t.Parallel()
	repo := open(t)
	s := repo.Space("s")
	for n := range 7 {
		require.NoError(t, s.Put(t.Context(), tuple.New(int64(n), strings.Repeat("x", tuple.MaxBytes/3)), 0))
	}
	require.NoError(t, s.Put(t.Context(), tuple.New(int64(7), strings.Repeat("x", tuple.MaxBytes-20)), 0))
	page, err := browse.Client{Repo: repo}.Page(t.Context(), browse.Query{Space: "s", Open: true, Limit: 8})
	require.NoError(t, err)
	require.Len(t, page.Entries, 7)
	require.Equal(t, 8, page.Total)
	require.Equal(t, 1, page.Omitted)
	for n, x := range page.Entries {
		require.Equal(t, int64(n), x.Tuple.Int64(0))
	}
}

func TestAPageOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	repo := open(t)
	_, err := browse.Client{Repo: repo}.Page(t.Context(), browse.Query{Space: "elsewhere", Open: true, Limit: 1})
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = browse.Client{Repo: repo}.Page(t.Context(), browse.Query{Space: "s", Offset: -1})
	require.ErrorIs(t, err, fault.ErrInvalid)
	for _, args := range []tuple.Tuple{nil, tuple.New("s", []byte{9}, true, true, int64(0), int64(1)), tuple.New("s", tuple.Match().Append(nil), true, true, int64(0), int64(-1))} {
		_, err := repo.Call(t.Context(), space.OpID{}, "browse.look", args)
		require.ErrorIs(t, err, fault.ErrInvalid)
	}
}
