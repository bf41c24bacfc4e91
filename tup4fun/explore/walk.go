package explore

import (
	"encoding/binary"
	"slices"

	"leasehold/tup4fun/syntax"
)

// Walker goes from state to state of a model wherever its caller wants, and
// remembers what it has seen. Steps that concern nobody but their process go
// first. It is for one goroutine.
type Walker struct {
	x      *expander
	states [][]uint32
	known  map[string]State
	moves  map[State][]*Move
	key    []byte
}

// State is a number that a Walker gives a state; 0 is the first.
type State int32

// Move is one step and where it leads.
type Move struct {
	Step       Step
	Proc       int         // which of the model's Procs makes it
	Operations []Operation // its operations that found or put a tuple, in order
	To         State
}

// Operation is one operation on a space. Its verb is Put, Get or Query: the forms that
// do not block are what they did.
type Operation struct {
	Verb  syntax.Verb
	Space int // of the model's Spaces
	Tuple []int64
	Edge  *Edge
}

// NewWalker begins at the first state of m.
func NewWalker(m *Model) *Walker {
	w := &Walker{x: newExpander(m, newTables(), Reduction{Dead: true}), known: map[string]State{}, moves: map[State][]*Move{}}
	w.state(w.x.initial())
	return w
}

// Len returns how many states were met.
func (w *Walker) Len() int { return len(w.states) }

// Config puts a state in words.
func (w *Walker) Config(s State) Config { return w.x.config(w.states[s]) }

// Content returns what a space holds in a state.
func (w *Walker) Content(s State, space int) [][]int64 {
	ids := w.x.t.spaces.get(w.states[s][len(w.x.m.Procs)+1+space])
	tuples := make([][]int64, len(ids))
	for i, id := range ids {
		tuples[i] = w.x.t.tuples.get(uint32(id))
	}
	return tuples
}

func (w *Walker) state(values []uint32) State {
	w.key = w.key[:0]
	for _, v := range values {
		w.key = binary.LittleEndian.AppendUint32(w.key, v)
	}
	s, ok := w.known[string(w.key)]
	if !ok {
		s = State(len(w.states))
		w.states = append(w.states, slices.Clone(values))
		w.known[string(w.key)] = s
	}
	return s
}

// Moves returns the steps that can be taken in s. The error, a *RuntimeError, says
// that one of them has no meaning.
func (w *Walker) Moves(s State) ([]*Move, error) {
	if moves, ok := w.moves[s]; ok {
		return moves, nil
	}
	all, err := w.x.all(w.states[s])
	if err != nil {
		return nil, err
	}
	var moves []*Move
	for _, t := range w.alone(s, all) {
		moves = append(moves, w.move(t))
	}
	w.moves[s] = moves
	return moves, nil
}

// alone returns, of the steps in s, those of a process that may go alone.
func (w *Walker) alone(s State, all []taken) []taken {
	for p := range w.x.m.Procs {
		if !w.x.part(w.states[s][p]).node.ample {
			continue
		}
		if its := slices.DeleteFunc(slices.Clone(all), func(t taken) bool { return t.proc != p }); len(its) > 0 {
			return its
		}
	}
	return all
}

func (w *Walker) move(t taken) *Move {
	w.x.canonical(t.next)
	m := &Move{Step: t.step, Proc: t.proc, To: w.state(t.next)}
	for _, e := range t.event {
		if e.verb != "" {
			m.Operations = append(m.Operations, Operation{e.verb, e.space, slices.Clone(e.tuple), e.edge})
		}
	}
	return m
}
