package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// takeOvers is a space on one journal whose engines take over from each other, and what it must hold.
type takeOvers struct {
	*testing.T
	random   *rand.Rand
	memory   *journal.Memory
	open     func(*journal.Memory) journal.Journal // as the next owner
	clients  []space.Space                         // of all engines there ever were
	has      map[int64]bool                        // what the space has
	may      map[int64]bool                        // what it has if an operation whose outcome is unknown has happened, or has not
	violates string                                // the first answer that no space could have given
}

// join opens the next engine.
func (w *takeOvers) join() {
	_, r := owner(w.T, w.open(w.memory), fmt.Sprintf("client-%d", len(w.clients)))
	w.clients = append(w.clients, r.Space("s"))
}

// step has a client of any engine, of a deposed one too, put number n, take a number or read one.
func (w *takeOvers) step(n int64) {
	if w.random.IntN(6) == 0 {
		w.join()
	}
	if w.random.IntN(8) == 0 { // the commit is applied, and its owner does not learn of that
		w.memory.After = func(context.Context, []journal.Record) error { w.memory.After = nil; return errCommit }
	}
	in, numbers := w.clients[w.random.IntN(len(w.clients))], tuple.Match("n", tuple.AnyInt64)
	switch w.random.IntN(3) {
	case 0:
		if err := in.Put(w.Context(), tuple.New("n", n), 0); err != nil {
			w.may[n] = true
			break
		}
		w.has[n] = true
	case 1:
		got, ok, err := in.GetP(w.Context(), numbers)
		if err != nil { // it may have taken any
			for k := range w.has {
				w.may[k] = true
			}
		} else if ok {
			w.check("taken", got)
			delete(w.has, got[1].(int64))
			delete(w.may, got[1].(int64))
		}
	default:
		if got, ok, err := in.QueryP(w.Context(), numbers); err == nil && ok {
			w.check("read", got)
		}
	}
	w.memory.After = nil
}

// check notes an answer with a tuple that the space cannot have.
func (w *takeOvers) check(what string, t tuple.Tuple) {
	if n := t[1].(int64); !w.has[n] && !w.may[n] && w.violates == "" {
		w.violates = fmt.Sprintf("%d was %s, and was gone before", n, what)
	}
}

// left compares what a last engine finds.
func (w *takeOvers) left() {
	w.join()
	found, err := w.clients[len(w.clients)-1].QueryAll(w.Context(), tuple.Match("n", tuple.AnyInt64))
	require.NoError(w, err)
	for _, t := range found {
		w.check("there", t)
		delete(w.has, t[1].(int64))
	}
	for n := range w.has {
		if !w.may[n] && w.violates == "" {
			w.violates = fmt.Sprintf("%d was lost", n)
		}
	}
}

// violationsAtRandom returns how many of 200 histories have an answer that no space could have given.
func violationsAtRandom(t *testing.T, open func(*journal.Memory) journal.Journal) (found []string) {
	t.Helper()
	for seed := range uint64(200) {
		w := &takeOvers{T: t, random: rand.New(rand.NewPCG(seed, 44)), memory: &journal.Memory{}, open: open, has: map[int64]bool{}, may: map[int64]bool{}}
		w.join()
		for n := range int64(60) {
			w.step(n)
		}
		w.left()
		if w.violates != "" {
			found = append(found, fmt.Sprintf("seed %d: %s", seed, w.violates))
		}
	}
	return found
}

// Engines take over from each other, also between the two halves of a commit, and clients go on with deposed ones.
func TestTakeOversAtRandomLoseNothingAndAnswerNothingOld(t *testing.T) {
	t.Parallel()
	require.Empty(t, violationsAtRandom(t, func(m *journal.Memory) journal.Journal { return m.Member() }))
}

func TestTakeOversWithoutProofAnswerWhatIsOld(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, violationsAtRandom(t, func(m *journal.Memory) journal.Journal { return unproved{m.Member()} }))
}

func TestTakeOversWithoutClaimAnswerWhatIsOld(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, violationsAtRandom(t, func(m *journal.Memory) journal.Journal { return m }))
}
