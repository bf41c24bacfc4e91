package explore

import (
	"sync/atomic"

	"leasehold/tup4fun/syntax"
)

// worker explores states in one goroutine.
type worker struct {
	search    *search
	expander  *expander
	counts    counts
	newStates int64 // new states; read by other goroutines
	state     []uint32
	found     []*finding
	most      []int
	fullest   []fullestState
	sizes     []int32 // size of each space content + 1; 0 is unknown
	checked   map[checkKey]bool
	begun     [][]bool // by property and index in its begins: whether it occurred
	batches   []batch  // by shard
}

type checkKey struct {
	prop  int
	parts [4]uint32
}

// newWorker returns a worker of a search, with buffers of its own.
func newWorker(s *search) *worker {
	w := &worker{search: s, expander: newExpander(s.model, s.tables, s.options.Reduction), state: make([]uint32, s.model.width()),
		found: make([]*finding, len(s.found)), most: make([]int, len(s.model.Spaces)), fullest: make([]fullestState, len(s.model.Spaces)), checked: map[checkKey]bool{},
		batches: make([]batch, len(s.store.shards))}
	for i := range s.model.props {
		w.begun = append(w.begun, make([]bool, len(s.model.props[i].begins)))
	}
	return w
}

// addState adds a state to the store.
func (w *worker) addState(state []uint32) {
	w.addNew(w.search.store.add(state, w.batches))
}

// flushStates adds the batched states to the store.
func (w *worker) flushStates() { w.addNew(w.search.store.flush(w.batches)) }

// addNew counts new states. checkBounds reads the count at the same time, so it is atomic.
func (w *worker) addNew(added int64) {
	if added > 0 {
		atomic.AddInt64(&w.newStates, added)
	}
}

// expandAll checks and expands the encoded states of one piece of a level. A state without
// successors is counted as final, stuck or failed.
func (w *worker) expandAll(piece []byte) {
	each := func(_ int, next []uint32) { w.addState(next) }
	for len(piece) > 0 {
		piece = piece[readState(piece, w.state):]
		w.measureSpaces(w.state)
		w.checkState(w.state)
		n, err := w.expander.expand(w.state, each)
		w.counts.transitions += int64(n)
		if n == 0 {
			w.countFinal(err)
		}
	}
}

// countFinal counts w.state, which has no successors, and checks the properties that such
// states can violate. err is the error of a step that failed, or nil.
func (w *worker) countFinal(err *RuntimeError) {
	switch {
	case err != nil:
		w.counts.errors++
		w.counts.stuck++
		w.addFinding(len(w.search.model.props), err)
	case w.expander.terminated(w.state):
		w.counts.terminated++
	default:
		w.counts.stuck++
		for i := range w.search.model.props {
			p := &w.search.model.props[i]
			if p.Kind == syntax.DeadlockFree && !w.expander.mayWait(w.state, p.Property) {
				w.addFinding(i, nil)
			}
		}
	}
}

// addFinding records that w.state violates property prop; the index after the last is for
// errors. err is the error of a step or an invariant that failed, or nil. A state of an earlier
// level has precedence, because its trace is shorter; within a level the smallest hash has, so that
// the report does not depend on which worker comes first.
func (w *worker) addFinding(prop int, err *RuntimeError) {
	s := w.search
	if s.found[prop] != nil { // of an earlier level
		return
	}
	hash := w.expander.hash(w.state)
	if f := w.found[prop]; f == nil || hash < f.hash {
		w.found[prop] = &finding{s.level, append([]uint32{}, w.state...), hash, err}
	}
}

// measureSpaces records the most tuples of each space and, from growthCheckAt on, a state
// with that many: of the first level that has one, that with the smallest hash, so that it does
// not depend on which worker comes first.
func (w *worker) measureSpaces(state []uint32) {
	for i, id := range state[len(w.search.model.Procs)+1:] {
		n, f := w.size(id), &w.fullest[i]
		if n > w.most[i] {
			w.most[i], f.state = n, nil
		}
		foundEarlier := f.state != nil && f.level != w.search.level // its path is shorter
		if n < w.most[i] || n < w.search.growthCheckAt[i] || foundEarlier {
			continue
		}
		if hash := w.expander.hash(state); f.state == nil || hash < f.hash {
			*f = fullestState{append([]uint32{}, state...), w.search.level, hash}
		}
	}
}

// size returns the number of tuples of a content of a space, which it looks up once for each
// content.
func (w *worker) size(content uint32) int {
	for int(content) >= len(w.sizes) {
		w.sizes = append(w.sizes, make([]int32, max(64, len(w.sizes)))...)
	}
	if w.sizes[content] == 0 {
		w.sizes[content] = int32(len(w.search.tables.spaces.get(content))) + 1
	}
	return int(w.sizes[content] - 1)
}

// checkState checks the properties of states that are not violated yet, and adds a finding for
// each that this state violates. An invariant that fails is a finding too.
func (w *worker) checkState(state []uint32) {
	for i := range w.search.model.props {
		p := &w.search.model.props[i]
		switch {
		case w.search.found[i] != nil:
		case p.Kind == syntax.Bound:
			if w.size(state[len(w.search.model.Procs)+1+p.space]) > p.limit {
				w.addFinding(i, nil)
			}
		case p.Kind == syntax.Invariant:
			if ok, err := w.evalInvariant(i, p, state); err != nil {
				w.addFinding(i, &RuntimeError{Process: "invariant " + p.Name, Pos: p.Pos, Text: p.X.Source(), Err: err})
			} else if !ok {
				w.addFinding(i, nil)
			}
		}
	}
}

// evalInvariant reports whether invariant p, which is property i, holds in a state. Results are
// cached by the parts of the state that it reads.
func (w *worker) evalInvariant(i int, p *prop, state []uint32) (holds bool, err error) {
	k, mem := checkKey{prop: i}, len(w.search.model.Procs)
	remember := len(p.footprint.spaces) < len(k.parts) // the first part is for the shared variables
	if remember {
		if p.footprint.mem {
			k.parts[0] = state[mem]
		}
		for j, sp := range p.footprint.spaces {
			k.parts[1+j] = state[mem+1+sp]
		}
		if ok, known := w.checked[k]; known {
			return ok, nil
		}
	}
	f := w.expander.propertyFrame(state)
	ok := p.holds(f)
	w.noteBegun(i, p, *f)
	if remember && f.err == nil {
		if len(w.checked) >= maxMemo {
			clear(w.checked)
		}
		w.checked[k] = ok
	}
	return ok, f.err
}

// hash returns a hash of a state. It is the same in each run, although ids are not, because it is
// made of the hashes of the parts.
func (x *expander) hash(s []uint32) uint64 {
	var h uint64
	for i, id := range s {
		switch procs := len(x.model.Procs); {
		case i < procs:
			h = mix(h ^ x.procInfo(id).hash)
		case i == procs:
			h = mix(h ^ x.tables.mem.hash(id))
		default:
			h = mix(h ^ x.tables.spaces.hash(id))
		}
	}
	return h
}

// terminated reports whether all processes have ended.
func (x *expander) terminated(s []uint32) bool {
	for p := range x.model.Procs {
		if q := x.procInfo(s[p]); q.at != q.code.Final {
			return false
		}
	}
	return true
}

// mayWait reports whether each process has ended, or is where the property lets it wait
// forever.
func (x *expander) mayWait(s []uint32, p *syntax.Property) bool {
	for i := range x.model.Procs {
		if q := x.procInfo(s[i]); !q.code.MayWait(p, q.at) {
			return false
		}
	}
	return true
}
