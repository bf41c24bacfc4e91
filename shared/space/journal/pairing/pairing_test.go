package pairing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pairing"
)

// store keeps a mark in memory.
type store struct {
	mark    pairing.Mark
	changes uint64
	fails   error
	sets    int
}

func (s *store) SetMark(_ context.Context, m pairing.Mark) error {
	if s.fails == nil {
		s.mark, s.sets = m, s.sets+1
	}
	return s.fails
}
func (s *store) Changes(context.Context) (uint64, error)  { return s.changes, nil }
func (s *store) Describe(context.Context) (string, error) { return fmt.Sprint(s.changes), nil }

func pairOf(t require.TestingT, d, j *store) *pairing.Pair {
	p, err := pairing.New(context.Background(), d, j, d.mark, j.mark)
	require.NoError(t, err)
	return p
}

func Example() {
	ctx, d, j := context.Background(), &store{}, &store{}
	p, _ := pairing.New(ctx, d, j, d.mark, j.mark)
	_ = p.Raise(ctx)
	older := *d
	_ = p.Raise(ctx)
	found := func(s *store) pairing.Found { return pairing.Found{State: pairing.Present, Mark: s.mark} }
	fmt.Println(pairing.Check(found(d), found(j)))
	var m *pairing.Mismatch
	fmt.Println(errors.As(pairing.Check(found(&older), found(j)), &m), m.Kind, m.Store)
	// Output:
	// <nil>
	// true older database
}

func TestCheckNamesTheStoreAndTheOption(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	mark := func(id string, counter uint64) pairing.Found {
		return pairing.Found{State: pairing.Present, Mark: pairing.Mark{Instance: id, Counter: counter, Confirmed: counter, At: at.Add(time.Duration(counter) * time.Minute), Other: "5 things"}}
	}
	pending := func(counter uint64) pairing.Found {
		f := mark("a", counter)
		f.Mark.Confirmed = counter - 1
		return f
	}
	between := func(counter, confirmed uint64) pairing.Found {
		f := mark("a", counter)
		f.Mark.Confirmed = confirmed
		return f
	}
	missing, empty, unmarked := pairing.Found{State: pairing.Missing}, pairing.Found{State: pairing.Empty}, pairing.Found{State: pairing.Present}
	for name, c := range map[string]struct {
		database, journal pairing.Found
		want              string // "": a pair
	}{
		"new":                        {missing, missing, ""},
		"new, with content":          {unmarked, unmarked, ""},
		"made by a command":          {unmarked, missing, ""},
		"equal":                      {mark("a", 7), mark("a", 7), ""},
		"interrupted":                {pending(7), mark("a", 6), ""},
		"interrupted later":          {pending(7), mark("a", 7), ""},
		"first raise interrupted":    {pending(1), unmarked, ""},
		"first raise, journal gone":  {pending(1), missing, "journal missing"},
		"database missing":           {missing, mark("a", 7), "database missing"},
		"database empty":             {empty, mark("a", 7), "database empty"},
		"database older":             {mark("a", 6), mark("a", 7), "database older"},
		"interrupted twice":          {between(7, 4), mark("a", 5), ""},
		"older than both":            {between(7, 4), mark("a", 3), "journal older"},
		"database older, pending":    {pending(5), mark("a", 7), "database older"},
		"database older, unmarked":   {unmarked, mark("a", 7), "database older"},
		"journal missing":            {mark("a", 7), missing, "journal missing"},
		"journal empty":              {mark("a", 7), empty, "journal empty"},
		"journal older":              {mark("a", 7), mark("a", 6), "journal older"},
		"journal older than pending": {pending(7), mark("a", 5), "journal older"},
		"journal older, unmarked":    {mark("a", 7), unmarked, "journal older"},
		"foreign":                    {mark("a", 7), mark("b", 7), "database foreign"},
	} {
		err := pairing.Check(c.database, c.journal)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		var m *pairing.Mismatch
		require.ErrorAs(t, err, &m, name)
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
		require.Equal(t, c.want, fmt.Sprintf("%s %s", m.Store, m.Kind), name)
		require.Contains(t, err.Error(), "--accept-missing "+string(m.Store), name)
		if m.Kind != pairing.IsForeign {
			require.Contains(t, err.Error(), "5 things", "%s: the loss", name)
			require.NotContains(t, err.Error(), "unknown time", name)
		}
	}
}

// killed is what a store panics with when the process is killed at a write.
type killed struct{}

// mortal is a store whose process is killed at a write, before or after it is durable.
type mortal struct {
	*store
	left  *int // writes until then
	after bool
}

func (m mortal) SetMark(ctx context.Context, mark pairing.Mark) error {
	*m.left--
	if *m.left == 0 && !m.after {
		panic(killed{})
	}
	err := m.store.SetMark(ctx, mark)
	if *m.left == 0 {
		panic(killed{})
	}
	return err
}

// TestAKillAtAnyWriteLeavesAPair raises the counter with kills and errors at any write. The
// stores are a pair after each, and an older copy of one of them never is one with the
// other, once a raise was completed in between.
func TestAKillAtAnyWriteLeavesAPair(t *testing.T) {
	t.Parallel()
	found := func(m pairing.Mark) pairing.Found { return pairing.Found{State: pairing.Present, Mark: m} }
	rapid.Check(t, func(r *rapid.T) {
		d, j := &store{}, &store{}
		type copied struct {
			d, j pairing.Mark
			at   uint64
		}
		var copies []copied
		completed := uint64(0)
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			require.NoError(r, pairing.Check(found(d.mark), found(j.mark)))
			copies = append(copies, copied{d.mark, j.mark, completed})
			left, after := rapid.IntRange(0, 4).Draw(r, "kill at"), rapid.Bool().Draw(r, "after")
			func() {
				defer func() {
					if x := recover(); x != nil {
						require.Equal(r, killed{}, x)
					}
				}()
				p, err := pairing.New(context.Background(), mortal{d, &left, after}, mortal{j, &left, after}, d.mark, j.mark)
				require.NoError(r, err)
				for range rapid.IntRange(1, 3).Draw(r, "raises") {
					j.fails = nil
					if rapid.IntRange(0, 3).Draw(r, "fails") == 0 {
						j.fails = fault.ErrOverloaded
					}
					if p.Raise(context.Background()) == nil {
						completed++
					}
				}
			}()
			j.fails = nil
			for _, c := range copies {
				if c.d.Instance != "" && completed > c.at {
					require.Error(r, pairing.Check(found(c.d), found(j.mark)), "an older database %+v beside %+v", c.d, j.mark)
				}
				if c.j.Instance != "" && completed > c.at {
					require.Error(r, pairing.Check(found(d.mark), found(c.j)), "an older journal %+v beside %+v", c.j, d.mark)
				}
			}
		}
	})
}

func TestRunRaisesTheCounterOnlyAfterChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, j := &store{}, &store{}
		p := pairOf(t, d, j)
		require.NoError(t, p.Raise(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		var logged strings.Builder
		done := make(chan struct{})
		go func() { defer close(done); p.Run(ctx, slog.New(slog.NewTextHandler(&logged, nil))) }()
		next := func() pairing.Mark {
			time.Sleep(pairing.RaiseEvery)
			synctest.Wait()
			return p.Mark()
		}
		require.EqualValues(t, 1, next().Counter, "nothing has changed")
		// While the marks are held, Run uses no store.
		use := func(f func()) { require.NoError(t, p.Hold(func(pairing.Mark) error { f(); return nil })) }
		use(func() { j.changes++ })
		require.EqualValues(t, 2, next().Counter)
		use(func() { require.Equal(t, "1", d.mark.Other, "each store describes the other"); d.changes += 3 })
		require.EqualValues(t, 3, next().Counter)
		use(func() { require.Equal(t, "3", j.mark.Other) })
		require.EqualValues(t, 3, next().Counter)

		use(func() { d.changes, j.fails = 4, errors.New("disk full") })
		next()
		require.EqualValues(t, 5, next().Counter)
		use(func() { j.fails = nil })
		require.EqualValues(t, 6, next().Counter)
		require.EqualValues(t, 6, p.Mark().Confirmed)
		cancel()
		<-done
		require.Equal(t, 1, strings.Count(logged.String(), "disk full"), "it is logged once")
	})
}

func TestHoldKeepsTheMarks(t *testing.T) {
	t.Parallel()
	d, j := &store{}, &store{}
	p := pairOf(t, d, j)
	require.NoError(t, p.Raise(t.Context()))
	raised := make(chan error)
	require.NoError(t, p.Hold(func(m pairing.Mark) error {
		go func() { raised <- p.Raise(context.Background()) }()
		require.EqualValues(t, 1, m.Counter)
		require.Equal(t, d.mark.Counter, j.mark.Counter)
		return nil
	}))
	require.NoError(t, <-raised)
	require.EqualValues(t, 2, p.Mark().Counter)
}
