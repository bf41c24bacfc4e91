package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// An estimate that leaves a part out lets a client use memory that no budget counts.
func TestAnEstimateCountsEachPartOfAnEntry(t *testing.T) {
	t.Parallel()
	budgeted := &state{contents: memory.Account{Budget: memory.New(1 << 30)}}
	u := tuple.New("name", int64(1))
	plain := entryCost + tupleCost(u)
	require.EqualValues(t, u.Size()+2*fieldCost, tupleCost(u))
	for name, c := range map[string]struct {
		x    entry
		more int64
	}{
		"a tuple":             {entry{}, 0},
		"fields":              {entry{Attributes: &space.Attributes{Fields: "12345"}}, attributesCost + 5},
		"labels":              {entry{Attributes: &space.Attributes{Labels: []string{"abc", "de"}}}, attributesCost + 2*labelCost + 5},
		"a TTL":               {entry{Deadline: 1}, timerCost},
		"a hold":              {entry{Hold: &journal.Hold{Session: "s"}}, holdCost},
		"a hold with an end":  {entry{Hold: &journal.Hold{Due: 1}}, holdCost + timerCost},
		"a hold beside a TTL": {entry{Deadline: 5, Hold: &journal.Hold{Session: "s"}}, holdCost},
	} {
		c.x.Tuple = u
		require.Equal(t, plain+c.more, budgeted.cost(&c.x), name)
		require.Zero(t, (&state{}).cost(&c.x), "%s: without a budget", name)
	}
	require.EqualValues(t, waiterCost+waiterStack+tupleCost(u)+tupleCost(tuple.New(int64(2)))+2*tupleCost(tuple.Tuple(tuple.Match("a"))),
		sizeOfWaiter(space.Request{Tuple: u, Args: tuple.New(int64(2)), Template: tuple.Match("a")}))
	for name, c := range map[string]struct {
		fact journal.Fact
		want int64
	}{
		"an entry":                 {&journal.Entry{Tuple: u}, entryCost + int64(pendingCopies*u.Size())},
		"an entry with attributes": {&journal.Entry{Tuple: u, Attributes: &space.Attributes{Fields: "12345"}}, entryCost + int64(pendingCopies*u.Size()) + 5},
		"a history record":         {&journal.Historic{HistoryRecord: space.HistoryRecord{Key: "k", Value: "value"}}, entryCost + 6*(1+pendingCopies)},
		"an answer":                {&journal.Answer{Reply: space.Reply{Tuple: u}}, answerCost + int64(pendingCopies*u.Size())},
		"a removal":                {journal.Gone(1), entryCost},
	} {
		require.Equal(t, c.want, pendingSize([]journal.Fact{c.fact}), name)
		require.Equal(t, 2*c.want, pendingSize([]journal.Fact{c.fact, c.fact}), "%s: twice", name)
	}
}

// fullJournal is a journal in memory that reports a full disk.
type fullJournal struct {
	journal.Memory
	full bool
}

func (f *fullJournal) Full() bool { return f.full }

// action is a part of a transaction.
type action = func(tx *transaction) error

func putting(name string, ephemeral bool) action {
	return func(tx *transaction) error {
		_, err := tx.Put(name, tuple.New("larger than one"), space.PutOptions{Ephemeral: ephemeral})
		return err
	}
}

// firstOf returns the ref of the first tuple of a space, a held or a visible one.
func firstOf(tx *transaction, name string, held bool) int64 {
	return tx.Survey(name, true, func(x space.Entry) bool { return x.Held == held })[0].Ref
}

func taking(name string) action {
	return func(tx *transaction) error { return tx.Take(firstOf(tx, name, false)) }
}

func both(a, b action) action {
	return func(tx *transaction) error {
		if err := a(tx); err != nil {
			return err
		}
		return b(tx)
	}
}

// shortOf returns an engine short of disk, memory or reserve, or of nothing. In s are a visible tuple and a held one,
// in the volatile v a visible one.
func shortOf(t *testing.T, what string) *Engine {
	t.Helper()
	const growth = 1 << 20
	j := &fullJournal{}
	e, err := Open(t.Context(), Config{Journal: j, Memory: memory.New(growth / 3 * 4)})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", 0)
	require.NoError(t, err)
	require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
	require.NoError(t, r.Create(t.Context(), "v", space.Options{Volatile: true}))
	require.NoError(t, in(t, e, func(tx *transaction) error {
		for _, name := range []string{"s", "s", "v"} {
			ref, err := tx.Put(name, tuple.New("one"), space.PutOptions{})
			require.NoError(t, err)
			if name == "s" && tx.Count("s", tuple.Match("one")) == 2 {
				require.NoError(t, tx.Hold(ref, space.HoldOptions{}))
			}
		}
		return nil
	}))
	j.full = what == "disk"
	e.state.memory.Add(map[string]int64{"memory": growth + 1<<10, "reserve": 4 * growth}[what])
	return e
}

// A claim, and the result of a task that it ends, must go on while the disk or the memory is short.
func TestWhatIsRefusedDependsOnWhatATransactionFreesAndWhere(t *testing.T) {
	t.Parallel()
	hold := func(tx *transaction) error { return tx.Hold(firstOf(tx, "s", false), space.HoldOptions{}) }
	back := func(tx *transaction) error { return tx.Back(firstOf(tx, "s", true), space.OldPlace) }
	done := func(tx *transaction) error { return tx.Done(firstOf(tx, "s", true)) }
	grow := func(tx *transaction) error {
		return tx.Replace(firstOf(tx, "s", false), tuple.New(string(make([]byte, 1000))))
	}
	put, take := putting("s", false), taking("s")
	for name, c := range map[string]struct {
		do                    action
		disk, memory, reserve bool // whether it is refused on a full disk, without memory, and without the reserve
	}{
		"a put":                           {put, true, true, true},
		"an ephemeral put":                {putting("s", true), true, false, true},
		"a put into a volatile space":     {putting("v", false), false, true, true},
		"a put and a take":                {both(put, take), false, false, true},
		"a take and a put":                {both(take, put), false, false, true},
		"a put and a hold":                {both(put, hold), false, false, true},
		"a put and a back":                {both(put, back), false, false, true},
		"a put and a done":                {both(put, done), false, false, false},
		"a put and a volatile take":       {both(put, taking("v")), true, false, true},
		"a volatile put and a take":       {both(putting("v", false), take), false, false, true},
		"a take":                          {take, false, false, false},
		"a hold":                          {hold, false, false, true},
		"a replacement that grows":        {grow, false, false, true},
		"a put and a replacement":         {both(put, grow), true, true, true},
		"an ephemeral put and a put":      {both(putting("s", true), put), true, true, true},
		"nothing":                         {func(*transaction) error { return nil }, false, false, false},
		"a take of more than what is put": {both(grow, take), false, false, false},
	} {
		for short, refused := range map[string]bool{"nothing": false, "disk": c.disk, "memory": c.memory, "reserve": c.reserve} {
			msg := fmt.Sprint(name, ", short of ", short)
			e := shortOf(t, short)
			before, used := tuples(e), e.Stats().Memory
			err := in(t, e, func(tx *transaction) error {
				require.NoError(t, c.do(tx), msg)
				return tx.checkCapacity()
			})
			if !refused {
				require.NoError(t, err, msg)
				continue
			}
			require.ErrorIs(t, err, fault.ErrOverloaded, msg)
			require.Equal(t, short == "disk", err == errDiskFull, msg)
			require.Equal(t, before, tuples(e), msg)
			require.Equal(t, used, e.Stats().Memory, msg)
		}
	}
}

func TestEventsAreForgottenOnlyWhileMemoryIsShort(t *testing.T) {
	t.Parallel()
	e, err := Open(t.Context(), Config{Journal: &journal.Memory{}, Memory: memory.New(1 << 20)})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", time.Hour)
	require.NoError(t, err)
	require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
	_, err = r.Space("s").Notify(t.Context(), nil)
	require.NoError(t, err)
	before := e.state.events
	require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0))
	require.Equal(t, before+eventMemory(tuple.New("a")), e.state.events)
	e.state.memory.Add(1 << 20)
	_, _, err = r.Space("s").GetP(t.Context(), tuple.Match("a"))
	require.NoError(t, err)
	require.Equal(t, eventMemory(tuple.New("a")), e.state.events, "that of the take alone")
	for _, sub := range e.state.subscribers() {
		require.Equal(t, 1, sub.missed)
	}
}
