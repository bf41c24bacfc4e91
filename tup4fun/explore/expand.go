package explore

import (
	"slices"

	"leasehold/tup4fun/syntax"
)

// tables hold the parts of states. A state is a list of numbers in these tables: one for
// each process, one for the shared variables, one for each space.
type tables struct{ procs, mem, spaces, tuples *table }

func newTables() *tables { return &tables{newTable(), newTable(), newTable(), newTable()} }

func (t *tables) bytes() int64 {
	return t.procs.size() + t.mem.size() + t.spaces.size() + t.tuples.size()
}

// extremes returns the smallest and the greatest number in any state, without symbols. 0 counts as
// one of the numbers, so that least is never positive and most never negative.
func (t *tables) extremes() (least, most int64) {
	include := func(values []int64) {
		for _, v := range values {
			if v < syntax.SymbolBase {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	for _, p := range t.procs.items {
		include(p[atParam : atParam+1])
		include(p[procHead:])
	}
	for _, t := range [...]*table{t.mem, t.tuples} {
		for _, values := range t.items {
			include(values)
		}
	}
	return least, most
}

// procInfo caches the properties of one process state.
type procInfo struct {
	known bool
	code  *Code
	node  *Node
	at    int
	hash  uint64
	live  uint64 // bits of the shared variables that it may read

	steps []uint32 // its outcomes, as an entry of the memo, if they depend on nothing else
}

// expander computes the successors of states. It is not safe for concurrent use.
type expander struct {
	model     *Model
	tables    *tables
	reduction Reduction
	procInfos []procInfo
	memo      *memo
	step      stepper
	groups    [][]int // interchangeable processes
	dead      map[deadKey]uint32
	errs      []*RuntimeError
	next      []uint32 // the successor that expand passes to each
	frame     frame    // filled by load

	entries [][]uint32 // by process of the state being expanded
}

type deadKey struct {
	mem  uint32
	live uint64
}

// newExpander returns an expander of the states of m. It is for one goroutine, and shares t
// with the others.
func newExpander(m *Model, t *tables, r Reduction) *expander {
	x := &expander{model: m, tables: t, reduction: r, memo: newMemo(), dead: map[deadKey]uint32{}}
	x.step = stepper{model: m, tuples: t.tuples, taken: make([]bool, m.edges)}
	x.next = make([]uint32, m.width())
	x.frame.tuples = t.tuples
	if r.Symmetry {
		x.groups = m.groups()
	}
	return x
}

// width returns the number of values in a state.
func (m *Model) width() int { return len(m.Procs) + 1 + len(m.Spaces) }

// groups lists the processes of each class that has more than one: those that may be exchanged.
// The search sorts the states of each group, so that equal processes count once.
func (m *Model) groups() [][]int {
	byClass := map[int][]int{}
	for i, p := range m.Procs {
		byClass[p.class] = append(byClass[p.class], i)
	}
	var all [][]int
	for i, p := range m.Procs {
		if g := byClass[p.class]; len(g) > 1 && g[0] == i {
			all = append(all, g)
		}
	}
	return all
}

// initial returns the initial state: the number of the state of each process, of the variables,
// and of each space. The tuples of a multiset are sorted, and exchangeable processes ordered
// (makeCanonical), so that equal states are equal numbers.
func (x *expander) initial() []uint32 {
	m := x.model
	s := make([]uint32, 0, m.width())
	for _, p := range m.Procs {
		values := make([]int64, procHead+len(p.Code.Locals))
		values[atCode], values[atParam], values[atNode] = int64(p.Code.index), p.Number, int64(p.Code.Entry)
		s = append(s, x.internProc(values))
	}
	mem := make([]int64, len(m.Variables))
	for i, v := range m.Variables {
		mem[i] = v.Start
	}
	s = append(s, x.tables.mem.intern(mem, hashValues(mem)))
	for i := range m.Spaces {
		var ids []int64
		for _, t := range m.Spaces[i].Start {
			ids = append(ids, int64(x.tables.tuples.intern(t, hashValues(t))))
		}
		if m.Spaces[i].Kind == 'R' {
			slices.Sort(ids)
		}
		s = append(s, x.internSpace(i, ids))
	}
	x.makeCanonical(s)
	return s
}

func (x *expander) internProc(values []int64) uint32 {
	return x.tables.procs.intern(values, hashValues(values))
}

// internSpace returns the number of a space's content. The hash of a random space ignores
// the order, because the order depends on the scheduling of the search.
func (x *expander) internSpace(space int, ids []int64) uint32 {
	hash := uint64(len(ids))
	for _, id := range ids {
		if p := mix(x.tables.tuples.hash(uint32(id))); x.model.Spaces[space].Kind == 'R' {
			hash += p
		} else {
			hash = mix(hash ^ p)
		}
	}
	return x.tables.spaces.intern(ids, hash)
}

// procInfo returns the cached properties of a process state. The pointer is valid until
// the next call, because the slice may grow. The bits of live are the first 64 shared variables
// that are live or observed; the others count as live always (isLive).
func (x *expander) procInfo(id uint32) *procInfo {
	for int(id) >= len(x.procInfos) {
		x.procInfos = append(x.procInfos, make([]procInfo, max(64, len(x.procInfos)))...)
	}
	p := &x.procInfos[id]
	if p.known {
		return p
	}
	values := x.tables.procs.get(id)
	p.known = true
	p.code = x.model.Codes[values[atCode]]
	p.at = int(values[atNode])
	p.node = p.code.Nodes[p.at]
	p.hash = x.tables.procs.hash(id)
	for v, live := range p.node.liveMem {
		if v < 64 && (live || x.model.observe[v]) {
			p.live |= 1 << v
		}
	}
	return p
}

// expand calls each with every successor of s and the process that makes the step; the slice is
// valid during the call. With the reduction by order, the steps of one process are enough if they
// have no effect on others (Node.ample); those of the first such process that has any are the only
// ones. Timeouts come only if no process has another step. It returns the number of successors. If a
// step fails there are none, and err is its error.
func (x *expander) expand(s []uint32, each func(proc int, next []uint32)) (n int, err *RuntimeError) {
	if x.reduction.Order {
		for p := range x.model.Procs {
			if !x.procInfo(s[p]).node.ample {
				continue
			}
			entry := x.outcomes(s, p)
			if entry[0] == failedEntry {
				return 0, x.errorOf(entry, p)
			}
			n = x.emitAll(s, p, entry, each)
			if n > 0 {
				return n, nil
			}
		}
	}
	x.entries = x.entries[:0]
	for p := range x.model.Procs {
		entry := x.outcomes(s, p)
		if entry[0] == failedEntry {
			return 0, x.errorOf(entry, p)
		}
		x.entries = append(x.entries, entry)
	}
	for p, entry := range x.entries {
		n += x.emitAll(s, p, entry, each)
	}
	if n == 0 {
		n = x.emitTimeouts(s, each)
	}
	return n, nil
}

// errorOf returns the error of a failed entry. It is a copy with the name of process p,
// because equal processes share their entries.
func (x *expander) errorOf(entry []uint32, p int) *RuntimeError {
	err := *x.errs[entry[1]]
	err.Process = x.model.Procs[p].Name
	return &err
}

// emitAll calls each with s after each outcome of an entry of the memo, and returns their number;
// 0 means that process p blocks. An entry is the number of outcomes and then each of them, as
// writeOutcome reads it: the process, the memory, and one value for each space of the node's
// footprint. The caller has checked that it is not a failed entry.
func (x *expander) emitAll(s []uint32, p int, entry []uint32, each func(int, []uint32)) int {
	if entry[0] == 0 {
		return 0
	}
	n, node := int(entry[0]), x.procInfo(s[p]).node
	entry = entry[1:] // without the number of outcomes
	for range n {
		x.emit(s, p, entry, node, each)
		entry = entry[2+len(node.footprint.spaces):]
	}
	return n
}

// emit calls each with the canonical state after one outcome.
func (x *expander) emit(s []uint32, p int, outcome []uint32, node *Node, each func(int, []uint32)) {
	copy(x.next, s)
	x.writeOutcome(x.next, p, outcome, node)
	x.makeCanonical(x.next)
	each(p, x.next)
}

// writeOutcome writes the parts that a step of process p changed into s: the process, the shared
// variables and the spaces of node.footprint, as appendOutcome writes them.
func (x *expander) writeOutcome(s []uint32, p int, outcome []uint32, node *Node) {
	mem := len(x.model.Procs)
	s[p] = outcome[0]
	if node.footprint.mem {
		s[mem] = outcome[1]
	}
	for i, sp := range node.footprint.spaces {
		s[mem+1+sp] = outcome[2+i]
	}
}

// makeCanonical replaces s by a representative of the states that are equivalent to it: dead shared
// variables are 0 (dead variables of processes are so already, by internLive), and
// interchangeable processes are sorted by the hash of their states, because the numbers of states
// depend on the scheduling of the search. Different states with equal hashes keep their order:
// that costs states, and changes no verdict.
func (x *expander) makeCanonical(s []uint32) {
	if x.reduction.Dead && x.model.hasDeadShared {
		x.clearDeadShared(s)
	}
	for _, g := range x.groups { // insertion sort, which keeps the order of equal hashes
		for i := 1; i < len(g); i++ {
			id := s[g[i]]
			hash, k := x.procInfo(id).hash, i
			for ; k > 0 && s[g[k-1]] != id && x.procInfo(s[g[k-1]]).hash > hash; k-- {
				s[g[k]] = s[g[k-1]]
			}
			s[g[k]] = id
		}
	}
}

// clearDeadShared sets the shared variables to 0 that every process writes before it
// reads them.
func (x *expander) clearDeadShared(s []uint32) {
	live := x.liveShared(s)
	mem := &s[len(x.model.Procs)]
	k := deadKey{*mem, live}
	id, ok := x.dead[k]
	if !ok {
		values := slices.Clone(x.tables.mem.get(*mem))
		for v := range values {
			if !isLive(live, v) {
				values[v] = 0
			}
		}
		id = x.tables.mem.intern(values, hashValues(values))
		if len(x.dead) >= maxMemo {
			clear(x.dead)
		}
		x.dead[k] = id
	}
	*mem = id
}

// liveShared returns the shared variables that a process may read before it writes them, or that a
// property reads, as bits for isLive.
func (x *expander) liveShared(s []uint32) (live uint64) {
	for p := range x.model.Procs {
		live |= x.procInfo(s[p]).live
	}
	return live
}

// isLive reports whether bit v is set. Variables beyond 64 have no bit and are always live.
func isLive(bits uint64, v int) bool { return v >= 64 || bits>>v&1 == 1 }
