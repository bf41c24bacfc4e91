package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// windowOf returns a window with an answer for each number, which were given in that order. Each
// answer has a tuple with text bytes of text; 0: none.
func windowOf(text int, numbers ...uint64) *answerWindow {
	w := &answerWindow{answers: map[uint64]*journal.Answer{}, memory: &memory.Account{Budget: memory.New(1 << 40)}}
	for _, n := range numbers {
		w.add(answerOf(w, n, text))
	}
	return w
}

// answerOf is the next answer of a window.
func answerOf(w *answerWindow, number uint64, text int) *journal.Answer {
	a := &journal.Answer{Op: space.OpID{Session: "s", Seq: number}, Nth: w.given + 1, Reply: space.Reply{Found: true}}
	if text > 0 {
		a.Reply.Tuple = tuple.New(string(make([]byte, text)))
	}
	return a
}

// countOf returns numbers from first on.
func countOf(first uint64, n int) (numbers []uint64) {
	for i := range n {
		numbers = append(numbers, first+uint64(i))
	}
	return numbers
}

func TestANumberIsOldAWindowBehindTheNewestOfItsRange(t *testing.T) {
	t.Parallel()
	const newest, auto = 5000, space.AutoSeq + 7000
	w := windowOf(0, newest, auto)
	for number, old := range map[uint64]bool{
		newest: false, newest - space.Window + 1: false, newest - space.Window: true, 1: true, newest + 1: false,
		auto: false, auto - space.Window + 1: false, auto - space.Window: true, space.AutoSeq: true, space.AutoSeq - 1: false,
	} {
		require.Equal(t, old, w.isOld(number), "%d", number)
	}
	w.add(answerOf(w, 3, 0))
	require.True(t, w.isOld(newest-space.Window), "a lower number that comes later moves nothing")
}

func TestAnAnswerIsForgottenOnceItsNumberAndItsAgeAreOld(t *testing.T) {
	t.Parallel()
	w := windowOf(0, countOf(1, 4*space.Window-1)...)
	require.Empty(t, w.forgetOld(), "it is not worth looking for them yet")
	require.Len(t, w.answers, 4*space.Window-1)
	w.add(answerOf(w, 4*space.Window, 0))
	forgotten := w.forgetOld()
	require.Len(t, forgotten, 3*space.Window)
	require.Contains(t, forgotten, journal.Forgotten(space.OpID{Session: "s", Seq: 3 * space.Window}))
	require.Len(t, w.answers, space.Window)
	require.NotNil(t, w.answers[3*space.Window+1])
	require.EqualValues(t, answerCost*space.Window, w.memory.Budget.Used())

	// The first numbers are answered last, as calls are that were blocked for long.
	w = windowOf(0, append(countOf(10, 4*space.Window), countOf(1, 9)...)...)
	w.forgetOld()
	for _, late := range countOf(1, 9) {
		require.NotNil(t, w.answers[late])
	}
	require.Len(t, w.answers, space.Window+9)
}

func TestAWindowCountsTheBytesAndTheMemoryOfItsAnswers(t *testing.T) {
	t.Parallel()
	one, two := tuple.New("a", "text"), tuple.New(int64(7))
	w := windowOf(0)
	add := func(number uint64, r space.Reply) {
		w.add(&journal.Answer{Op: space.OpID{Session: "s", Seq: number}, Nth: w.given + 1, Reply: r})
	}
	requireUsed := func(bytes int, cost int64) {
		t.Helper()
		require.Equal(t, bytes, w.bytes)
		require.Equal(t, cost, w.memory.Budget.Used())
	}
	add(1, space.Reply{Found: true, Tuple: one})
	requireUsed(one.Size(), answerCost+tupleCost(one))
	add(2, space.Reply{Found: true, Tuples: []tuple.Tuple{one, two}})
	requireUsed(2*one.Size()+two.Size(), 2*answerCost+2*tupleCost(one)+tupleCost(two))
	add(2, space.Reply{Found: true, Tuple: two}) // in its place
	requireUsed(one.Size()+two.Size(), 2*answerCost+tupleCost(one)+tupleCost(two))
	require.EqualValues(t, 3, w.given)
	dropped := w.dropReply(1)
	require.Equal(t, []journal.Fact{w.answers[1]}, dropped)
	require.Equal(t, &journal.Answer{Op: space.OpID{Session: "s", Seq: 1}, Nth: 1, Reply: space.Reply{Found: true}, DroppedBytes: one.Size()}, w.answers[1])
	requireUsed(two.Size(), 2*answerCost+tupleCost(two))
	require.Empty(t, w.dropReply(1), "it has no tuple any more")
	require.Empty(t, w.dropReply(9), "there is no such answer")
	require.EqualValues(t, 3, w.given)
	for _, number := range []uint64{1, 2, 2} {
		w.remove(number)
	}
	requireUsed(0, 0)
	require.Empty(t, w.answers)
}

// Beyond the bound the oldest replies go, until half of it is left. The newest one stays however
// large it is.
func TestTheOldestLargeRepliesOfAWindowAreDropped(t *testing.T) {
	t.Parallel()
	kept := func(w *answerWindow) (numbers []uint64) {
		for _, n := range countOf(1, len(w.answers)) {
			if w.answers[n].DroppedBytes == 0 {
				numbers = append(numbers, n)
			}
		}
		return numbers
	}
	const part = space.WindowBytes / 8
	w := windowOf(part-tuple.New(string(make([]byte, part))).Size()+part, countOf(1, 8)...)
	require.Equal(t, space.WindowBytes, w.bytes)
	require.Empty(t, w.dropLarge(), "it is exactly at the bound")
	w.add(answerOf(w, 9, 1))
	require.Len(t, w.dropLarge(), 5)
	require.Equal(t, []uint64{6, 7, 8, 9}, kept(w))
	require.LessOrEqual(t, w.bytes, space.WindowBytes/2)
	require.Empty(t, w.dropLarge())

	w = windowOf(space.WindowBytes+1, 1)
	require.Empty(t, w.dropLarge(), "the newest one stays")
	w.add(answerOf(w, 2, space.WindowBytes+1))
	require.Len(t, w.dropLarge(), 1)
	require.Equal(t, []uint64{2}, kept(w))

	w = windowOf(tightWindow/2, 1, 2, 3)
	require.Empty(t, w.dropLarge())
	w.memory.Budget.Add(1 << 41) // memory is used up
	require.Len(t, w.dropLarge(), 2)
	require.Equal(t, []uint64{3}, kept(w))
}
