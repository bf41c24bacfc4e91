package explore

import (
	"encoding/binary"
	"slices"

	"leasehold/tup4fun/syntax"
)

// Walker explores a model from state to state in the order that its caller chooses, and
// caches the states and steps. Steps without effect on other processes go first. It is
// not safe for concurrent use.
type Walker struct {
	expander *expander
	states   [][]uint32
	known    map[string]State
	moves    map[State][]*Move
	key      []byte
}

// State identifies a state of a Walker; 0 is the initial state.
type State int32

// Move is one step and the state it leads to.
type Move struct {
	Step       Step
	Proc       int         // index in the model's Procs
	Operations []Operation // that found or put a tuple, in order
	To         State
}

// Operation is one operation on a space. Its verb is Put, Get or Query; non-blocking
// forms have the verb of their effect.
type Operation struct {
	Verb  syntax.Verb
	Space int // index in the model's Spaces
	Tuple []int64
	Edge  *Edge
}

// NewWalker returns a Walker that knows the initial state of m.
func NewWalker(m *Model) *Walker {
	w := &Walker{expander: newExpander(m, newTables(), Reduction{Dead: true}), known: map[string]State{}, moves: map[State][]*Move{}}
	w.internState(w.expander.initial())
	return w
}

// Len returns the number of known states.
func (w *Walker) Len() int { return len(w.states) }

// Config describes a state.
func (w *Walker) Config(s State) Config { return w.expander.config(w.states[s]) }

// Content returns the tuples of a space in a state.
func (w *Walker) Content(s State, space int) [][]int64 {
	ids := w.expander.tables.spaces.get(w.states[s][len(w.expander.model.Procs)+1+space])
	tuples := make([][]int64, len(ids))
	for i, id := range ids {
		tuples[i] = w.expander.tables.tuples.get(uint32(id))
	}
	return tuples
}

// With returns the state that differs from s by one more tuple in a space, whatever its capacity.
func (w *Walker) With(s State, space int, tuple []int64) State {
	m, t := w.expander.model, w.expander.tables
	values := slices.Clone(w.states[s])
	at := len(m.Procs) + 1 + space
	ids := slices.Clone(t.spaces.get(values[at]))
	ids = append(ids, int64(t.tuples.intern(tuple, hashValues(tuple))))
	if m.Spaces[space].Kind == 'R' {
		slices.Sort(ids)
	}
	values[at] = w.expander.internSpace(space, ids)
	return w.internState(values)
}

// internState returns the State of values, the same for equal values, and adds a copy of them if it
// is new.
func (w *Walker) internState(values []uint32) State {
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

// Moves returns the possible steps in s. If a step fails, the error is a *RuntimeError. They are
// computed once, and must not be changed.
func (w *Walker) Moves(s State) ([]*Move, error) {
	if moves, ok := w.moves[s]; ok {
		return moves, nil
	}
	all, err := w.expander.allSteps(w.states[s])
	if err != nil {
		return nil, err
	}
	var moves []*Move
	for _, t := range w.reduce(s, all) {
		moves = append(moves, w.moveOf(t))
	}
	w.moves[s] = moves
	return moves, nil
}

// MovesOf returns the possible steps of one process in s, without timeouts; proc is its index in the model's
// Procs. If a step of this process fails, the error is a *RuntimeError. Steps of the others may fail, as they
// can in a state that With made.
func (w *Walker) MovesOf(s State, proc int) ([]*Move, error) {
	its, err := w.expander.stepsOf(w.states[s], proc)
	if err != nil {
		return nil, err
	}
	var moves []*Move
	for _, t := range its {
		moves = append(moves, w.moveOf(t))
	}
	return moves, nil
}

// reduce applies partial-order reduction: it returns only the steps of a process that may
// be explored alone, if there is one.
func (w *Walker) reduce(s State, all []taken) []taken {
	for p := range w.expander.model.Procs {
		if !w.expander.procInfo(w.states[s][p]).node.ample {
			continue
		}
		if its := slices.DeleteFunc(slices.Clone(all), func(t taken) bool { return t.proc != p }); len(its) > 0 {
			return its
		}
	}
	return all
}

// moveOf returns a step as a Move. It makes t.next canonical, so that states that differ only by
// equal processes are one.
func (w *Walker) moveOf(t taken) *Move {
	w.expander.makeCanonical(t.next)
	m := &Move{Step: t.step, Proc: t.proc, To: w.internState(t.next)}
	for _, e := range t.event {
		if e.verb != "" {
			m.Operations = append(m.Operations, Operation{e.verb, e.space, slices.Clone(e.tuple), e.edge})
		}
	}
	return m
}
