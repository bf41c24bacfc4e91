package engine

import (
	"hash/maphash"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// changing returns an engine with the spaces s and ordered, and four tuples in s: a visible one, one held by a
// session, one taken by a get, and one already gone.
func changing(t *testing.T) (e *Engine, visible, held, taken, gone int64) {
	t.Helper()
	e, r := opened(t, nil)
	require.NoError(t, r.Create(t.Context(), "ordered", space.Options{Kind: space.Ordered, OrderBy: 1}))
	in(t, e, func(tx *transaction) error {
		for _, ref := range []*int64{&visible, &held, &taken, &gone} {
			var err error
			*ref, err = tx.Put("s", tuple.New("a"), space.PutOptions{TTL: time.Hour})
			require.NoError(t, err)
		}
		require.NoError(t, tx.Hold(held, space.HoldOptions{}))
		require.NoError(t, tx.Take(gone))
		tx.takeFor(space.Request{Verb: space.VerbGet, Ack: true, Op: space.OpID{Session: "test-1", Seq: 1}}, tx.st.entries[taken])
		return nil
	})
	return e, visible, held, taken, gone
}

// in runs f as a transaction of the session test-1, and returns its error.
func in(t *testing.T, e *Engine, f func(tx *transaction) error) error {
	t.Helper()
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	tx := e.beginTransaction(e.state.sessions["test-1"])
	err := tx.try(func() error { return f(tx) })
	if err == nil {
		e.finishTransaction(tx, space.OpID{}, space.Reply{})
	}
	return err
}

// A refused procedure must leave the tuple as it was, and one that may go on must not be refused.
func TestEachChangeIsAcceptedOrRefusedByTheStateOfItsTuple(t *testing.T) {
	t.Parallel()
	good, malformed := tuple.New("b"), tuple.New(uint8(1))
	tooLarge := space.Attributes{Fields: strings.Repeat("x", space.MaxFields+1)}
	accepted, notHeld, invalid := [2]error{}, [2]error{fault.ErrConflict, nil}, [2]error{fault.ErrInvalid, fault.ErrInvalid}
	for name, c := range map[string]struct {
		do   func(tx *transaction, ref int64) error
		want [2]error // for a visible and for a held tuple
	}{
		"take":                        {func(tx *transaction, ref int64) error { return tx.Take(ref) }, accepted},
		"done":                        {func(tx *transaction, ref int64) error { return tx.Done(ref) }, notHeld},
		"back":                        {func(tx *transaction, ref int64) error { return tx.Back(ref, space.OldPlace) }, notHeld},
		"replace":                     {func(tx *transaction, ref int64) error { return tx.Replace(ref, good) }, accepted},
		"replace by a malformed one":  {func(tx *transaction, ref int64) error { return tx.Replace(ref, malformed) }, invalid},
		"amend":                       {func(tx *transaction, ref int64) error { return tx.Amend(ref, good, space.Attributes{}) }, accepted},
		"amend without a tuple":       {func(tx *transaction, ref int64) error { return tx.Amend(ref, nil, space.Attributes{Turn: 1}) }, accepted},
		"amend by a malformed one":    {func(tx *transaction, ref int64) error { return tx.Amend(ref, malformed, space.Attributes{}) }, invalid},
		"amend beyond the bounds":     {func(tx *transaction, ref int64) error { return tx.Amend(ref, good, tooLarge) }, [2]error{fault.ErrTooLarge, fault.ErrTooLarge}},
		"extend":                      {func(tx *transaction, ref int64) error { return tx.Extend(ref, 1) }, accepted},
		"extend without an end":       {func(tx *transaction, ref int64) error { return tx.Extend(ref, 0) }, accepted},
		"extend by less than nothing": {func(tx *transaction, ref int64) error { return tx.Extend(ref, -1) }, invalid},
		"hold":                        {func(tx *transaction, ref int64) error { return tx.Hold(ref, space.HoldOptions{}) }, accepted},
		"hold with a TTL":             {func(tx *transaction, ref int64) error { return tx.Hold(ref, space.HoldOptions{TTL: 1}) }, accepted},
		"hold with a negative TTL":    {func(tx *transaction, ref int64) error { return tx.Hold(ref, space.HoldOptions{TTL: -1}) }, invalid},
		"hold without a caller": {func(tx *transaction, ref int64) error {
			tx.caller = nil
			return tx.Hold(ref, space.HoldOptions{})
		}, invalid},
		"hold without a caller, for a time": {func(tx *transaction, ref int64) error {
			tx.caller = nil
			return tx.Hold(ref, space.HoldOptions{TTL: 1})
		}, accepted},
		"hold without a caller, by no session": {func(tx *transaction, ref int64) error {
			tx.caller = nil
			return tx.Hold(ref, space.HoldOptions{NoSession: true})
		}, accepted},
	} {
		for n, wanted := range []error{c.want[0], c.want[1], fault.ErrNotFound, fault.ErrNotFound} {
			e, visible, held, taken, gone := changing(t)
			ref := []int64{visible, held, taken, gone}[n]
			before := e.state.entries[ref]
			err := in(t, e, func(tx *transaction) error {
				err := c.do(tx, ref)
				if err == nil {
					require.Len(t, tx.steps, 1, "%s of tuple %d", name, n)
				} else {
					require.Empty(t, tx.steps, "%s of tuple %d", name, n)
				}
				return err
			})
			if wanted == nil {
				require.NoError(t, err, "%s of tuple %d", name, n)
				require.NotSame(t, before, e.state.entries[ref], "%s of tuple %d", name, n)
				continue
			}
			require.ErrorIs(t, err, wanted, "%s of tuple %d", name, n)
			require.Same(t, before, e.state.entries[ref], "%s of tuple %d", name, n)
		}
	}
}

func TestAPutIsRefusedByItsTupleItsSpaceAndItsOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		space string
		tuple tuple.Tuple
		o     space.PutOptions
		want  error
	}{
		"good":                        {"s", tuple.New("a"), space.PutOptions{}, nil},
		"a space that does not exist": {"nowhere", tuple.New("a"), space.PutOptions{}, fault.ErrNotFound},
		"a malformed tuple":           {"s", tuple.New(uint8(1)), space.PutOptions{}, fault.ErrInvalid},
		"a negative TTL":              {"s", tuple.New("a"), space.PutOptions{TTL: -1}, fault.ErrInvalid},
		"too large attributes":        {"s", tuple.New("a"), space.PutOptions{Attributes: space.Attributes{Labels: make([]string, space.MaxLabels+1)}}, fault.ErrTooLarge},
		"an order":                    {"ordered", tuple.New("a", int64(1)), space.PutOptions{}, nil},
		"an order of another type":    {"ordered", tuple.New("a", "1"), space.PutOptions{}, fault.ErrInvalid},
		"a tuple that is too short":   {"ordered", tuple.New("a"), space.PutOptions{}, fault.ErrInvalid},
	} {
		e, _, _, _, _ := changing(t)
		before := tuples(e)
		err := in(t, e, func(tx *transaction) error {
			ref, err := tx.Put(c.space, c.tuple, c.o)
			require.Equal(t, err == nil, ref != 0, name)
			return err
		})
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.want == nil, tuples(e) == before+1, name)
	}
	e, _, _, _, _ := changing(t)
	require.NoError(t, in(t, e, func(tx *transaction) error {
		ref, err := tx.Put("ordered", tuple.New("a", int64(1)), space.PutOptions{})
		require.NoError(t, err)
		for _, bad := range []tuple.Tuple{tuple.New("a"), tuple.New("a", "1")} {
			require.ErrorIs(t, tx.Replace(ref, bad), fault.ErrInvalid)
			require.ErrorIs(t, tx.Amend(ref, bad, space.Attributes{}), fault.ErrInvalid)
		}
		return nil
	}))
}

// Procedures use these on spaces that another protocol makes.
func TestASpaceThatDoesNotExistHasNothing(t *testing.T) {
	t.Parallel()
	e, _, _, _, _ := changing(t)
	any := tuple.Match(tuple.AnyString)
	require.NoError(t, in(t, e, func(tx *transaction) error {
		for name, n := range map[string]int{"s": 1, "nowhere": 0} {
			require.Equal(t, n == 1, tx.Exists(name))
			_, found := tx.Find(name, any, nil)
			require.Equal(t, n == 1, found)
			_, found = tx.Find(name, any, func(x space.Entry) bool { return x.Space != name })
			require.False(t, found, "keep accepts none")
			require.Len(t, tx.Scan(name, any), n)
			require.Len(t, tx.Held(name, any), n)
			require.Len(t, tx.Survey(name, true, func(space.Entry) bool { return true }), 2*n)
			require.Len(t, tx.Survey(name, false, func(space.Entry) bool { return true }), n)
			require.Empty(t, tx.Survey(name, true, func(space.Entry) bool { return false }))
			require.Equal(t, n, tx.Count(name, any))
			walked := 0
			tx.Walk(space.Walk{Space: name, Template: any}, func(space.Entry) bool { walked++; return true })
			require.Equal(t, n, walked)
			_, found = tx.LastLabelled(name, "label")
			require.False(t, found)
			require.Zero(t, tx.CountLabelled(name, "label"))
		}
		return nil
	}))
}

func TestTheEntriesOfASurveyAreInTheOrderOfTheSpace(t *testing.T) {
	t.Parallel()
	e, _, _, _, _ := changing(t)
	require.NoError(t, in(t, e, func(tx *transaction) error {
		var want []int64
		for _, c := range []struct {
			name  string
			order int64
		}{{"a", 9}, {"b", 7}, {"c", 5}, {"d", -3}} {
			ref, err := tx.Put("ordered", tuple.New(c.name, c.order, c.name == "b"), space.PutOptions{})
			require.NoError(t, err)
			if c.order%3 == 0 {
				require.NoError(t, tx.Hold(ref, space.HoldOptions{}))
			}
			want = append(want, ref)
		}
		var got []int64
		for _, x := range tx.Survey("ordered", true, func(space.Entry) bool { return true }) {
			got = append(got, x.Ref)
		}
		require.Equal(t, want, got)
		return nil
	}))
}

// A walk that goes on starts from the position of an entry that may be gone.
func TestThePivotOfAPositionHasItsRank(t *testing.T) {
	t.Parallel()
	for _, o := range []space.Options{{Kind: space.Sequential}, {Kind: space.Queue}, {Kind: space.Stack}, {Kind: space.Pile}, {Kind: space.Random}, {Kind: space.Ordered, OrderBy: 2}} {
		o, err := o.Normalize()
		require.NoError(t, err)
		in := newSpaceState(&journal.Space{Name: "s", Options: o}, maphash.MakeSeed(), &memory.Account{})
		for _, order := range []int64{0, 5, -5, math.MaxInt64, math.MinInt64} {
			k := in.rank(&entry{Place: 7, Tuple: tuple.New("a", "b", order), Attributes: &space.Attributes{Turn: 3}})
			require.Equal(t, k, in.rank(in.pivot(k)), "%s, order %d", o.Kind, order)
		}
		older, younger := in.rank(&entry{Place: 1, Tuple: tuple.New("a", "b", int64(0))}), in.rank(&entry{Place: 2, Tuple: tuple.New("a", "b", int64(0))})
		require.Equal(t, o.Kind != space.Stack && o.Kind != space.Pile, older.Compare(younger) < 0, "%s", o.Kind)
		require.Equal(t, o.Kind == space.Queue || o.Kind == space.Stack, in.headOnly(), "%s", o.Kind)
	}
}

// An expiry procedure asks who the caller and the holder are; only the ephemeral tuple has an owner.
func TestATransactionKnowsItsCallerAndTheProcessesOfSessions(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	conn, err := e.OpenGateSession(t.Context(), Opening{ID: "w-1", TTL: time.Hour, Process: space.Process{Host: "mill", Name: "one"}})
	require.NoError(t, err)
	require.NotNil(t, conn)
	require.NoError(t, in(t, e, func(tx *transaction) error {
		require.Equal(t, "test-1", tx.Caller())
		require.True(t, tx.Alive("w-1"))
		require.False(t, tx.Alive("w-2"))
		require.Equal(t, "mill one", tx.Host("w-1")+" "+tx.WorkerName("w-1"))
		require.Equal(t, " ", tx.Host("w-2")+" "+tx.WorkerName("w-2"))
		tx.st.ending = &session{id: "w-2", process: space.Process{Host: "farm", Name: "two"}}
		require.Equal(t, "farm two", tx.Host("w-2")+" "+tx.WorkerName("w-2"))
		require.Empty(t, tx.Host("w-3"))
		tx.st.ending = nil
		for _, ephemeral := range []bool{true, false} {
			ref, err := tx.Put("s", tuple.New("a"), space.PutOptions{Ephemeral: ephemeral})
			require.NoError(t, err)
			require.Equal(t, ephemeral, tx.st.entries[ref].Owner == "test-1")
		}
		tx.caller = nil
		require.Empty(t, tx.Caller())
		tx.KeepAlive() // without a caller it does nothing
		require.Equal(t, tx.st.base+tx.st.seen, tx.Elapsed(), "the engine time, which has just been read")
		require.Equal(t, time.UTC, tx.Now().Location())
		require.WithinRange(t, tx.Now(), tx.st.started, time.Now())
		return nil
	}))
}

func TestASpaceIsMadeOnceWithItsOptionsWithinTheBounds(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("n", space.MaxName)
	for name, c := range map[string]struct {
		space string
		o     space.Options
		short string
		want  error
		made  bool
	}{
		"new":                     {"new", space.Options{}, "", nil, true},
		"of the longest name":     {longest, space.Options{}, "", nil, true},
		"of a longer name":        {longest + "n", space.Options{}, "", fault.ErrInvalid, false},
		"without a name":          {"", space.Options{}, "", fault.ErrInvalid, false},
		"with unknown options":    {"new", space.Options{Kind: "heap"}, "", fault.ErrInvalid, false},
		"again":                   {"s", space.Options{}, "", nil, false},
		"again, with others":      {"s", space.Options{Kind: space.Queue}, "", fault.ErrConflict, false},
		"on a full disk":          {"new", space.Options{}, "disk", journal.ErrFull, false},
		"again on a full disk":    {"s", space.Options{}, "disk", nil, false},
		"without memory":          {"new", space.Options{}, "memory", memory.ErrFull, false},
		"again without memory":    {"s", space.Options{}, "memory", nil, false},
		"volatile on a full disk": {"new", space.Options{Volatile: true}, "disk", journal.ErrFull, false},
	} {
		e := shortOf(t, c.short)
		before, used := len(e.state.spaces), e.Stats().Memory
		err := in(t, e, func(tx *transaction) error { return tx.createSpace(c.space, c.o) })
		require.ErrorIs(t, err, c.want, name)
		made := int64(0)
		if c.made {
			made = 1
		}
		require.EqualValues(t, int64(before)+made, len(e.state.spaces), name)
		require.GreaterOrEqual(t, e.Stats().Memory, used+made*spaceCost, name)
		require.Equal(t, made == 0, e.state.memory.Budget.Used() == used, name)
	}
}

func TestTheTuplesOfASpaceAreListedByWhetherTheyAreHeld(t *testing.T) {
	t.Parallel()
	e, _, _, _, _ := changing(t)
	infos := e.state.infos()
	require.Len(t, infos, 2)
	require.Equal(t, []string{"ordered", "s"}, []string{infos[0].Name, infos[1].Name})
	require.Equal(t, []int{0, 0, 1, 1}, []int{infos[0].Visible, infos[0].Held, infos[1].Visible, infos[1].Held}, "a tuple that a get took is in neither")
	require.Equal(t, space.Ordered, infos[0].Options.Kind)
}
