package explore

import (
	"slices"

	"leasehold/tup4fun/syntax"
)

// tables are the parts that states are made of. A state is a list of numbers: of
// each process, of the shared variables, of each space.
type tables struct{ procs, mem, spaces, tuples *table }

func newTables() *tables { return &tables{newTable(), newTable(), newTable(), newTable()} }

func (t *tables) bytes() int64 {
	return t.procs.size() + t.mem.size() + t.spaces.size() + t.tuples.size()
}

// extremes returns the least and the greatest number in any state.
func (t *tables) extremes() (least, most int64) {
	look := func(values []int64) {
		for _, v := range values {
			if v < syntax.SymbolBase {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	for _, p := range t.procs.items {
		look(p[atParam : atParam+1])
		look(p[procHead:])
	}
	for _, t := range [...]*table{t.mem, t.tuples} {
		for _, values := range t.items {
			look(values)
		}
	}
	return least, most
}

// part is what an expander knows of one look of a process.
type part struct {
	known bool
	code  *Code
	node  *Node
	at    int
	print uint64
	live  uint64 // shared variables that it may read

	steps []uint32 // outcomes, where they depend on nothing else
}

// expander computes the successors of states. It is for one goroutine.
type expander struct {
	m      *Model
	t      *tables
	r      Reduction
	parts  []part
	memo   *memo
	step   stepper
	groups [][]int // processes that may change places
	dead   map[deadKey]uint32
	errs   []*RuntimeError
	next   []uint32
	frame  frame

	entries [][]uint32 // of the processes of the state that is being expanded
}

type deadKey struct {
	mem  uint32
	live uint64
}

func newExpander(m *Model, t *tables, r Reduction) *expander {
	x := &expander{m: m, t: t, r: r, memo: newMemo(), dead: map[deadKey]uint32{}}
	x.step = stepper{m: m, tuples: t.tuples}
	x.next = make([]uint32, m.width())
	x.frame.tuples = t.tuples
	if r.Symmetry {
		x.groups = m.groups()
	}
	return x
}

// width is how many numbers a state has.
func (m *Model) width() int { return len(m.Procs) + 1 + len(m.Spaces) }

// groups lists the processes that are alike.
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

// initial returns the state that everything begins with.
func (x *expander) initial() []uint32 {
	m := x.m
	s := make([]uint32, 0, m.width())
	for _, p := range m.Procs {
		values := make([]int64, procHead+len(p.Code.locals))
		values[atCode], values[atParam], values[atNode] = int64(p.Code.index), p.param, int64(p.Code.Entry)
		s = append(s, x.internProc(values))
	}
	s = append(s, x.t.mem.intern(m.start, hashValues(m.start)))
	for i := range m.Spaces {
		var ids []int64
		for _, t := range m.Spaces[i].start {
			ids = append(ids, int64(x.t.tuples.intern(t, hashValues(t))))
		}
		if m.Spaces[i].Kind == 'R' {
			slices.Sort(ids)
		}
		s = append(s, x.internSpace(i, ids))
	}
	x.canonical(s)
	return s
}

func (x *expander) internProc(values []int64) uint32 {
	return x.t.procs.intern(values, hashValues(values))
}

// internSpace gives a content of a space its number. The print of a random space
// does not depend on the order, which depends on the run.
func (x *expander) internSpace(space int, ids []int64) uint32 {
	print := uint64(len(ids))
	for _, id := range ids {
		if p := mix(x.t.tuples.print(uint32(id))); x.m.Spaces[space].Kind == 'R' {
			print += p
		} else {
			print = mix(print ^ p)
		}
	}
	return x.t.spaces.intern(ids, print)
}

// part returns what is known of a process with that number.
func (x *expander) part(id uint32) *part {
	for int(id) >= len(x.parts) {
		x.parts = append(x.parts, make([]part, max(64, len(x.parts)))...)
	}
	p := &x.parts[id]
	if p.known {
		return p
	}
	values := x.t.procs.get(id)
	p.known = true
	p.code = x.m.codes[values[atCode]]
	p.at = int(values[atNode])
	p.node = p.code.Nodes[p.at]
	p.print = x.t.procs.print(id)
	for v, live := range p.node.liveMem {
		if v < 64 && (live || x.m.observe[v]) {
			p.live |= 1 << v
		}
	}
	return p
}

// expand calls each with every successor of s and the process that makes the step;
// the slice is valid during the call. It returns how many there were. If a step
// has no meaning there is no successor, and err says why.
func (x *expander) expand(s []uint32, each func(proc int, next []uint32)) (n int, err *RuntimeError) {
	if x.r.Order {
		for p := range x.m.Procs {
			if x.part(s[p]).node.ample {
				if n, err = x.process(s, p, each); n > 0 || err != nil {
					return n, err
				}
			}
		}
	}
	x.entries = x.entries[:0]
	for p := range x.m.Procs {
		entry := x.outcomes(s, p)
		if entry[0] == wrong {
			return 0, x.errs[entry[1]].of(x.m.Procs[p].Name)
		}
		x.entries = append(x.entries, entry)
	}
	for p, entry := range x.entries {
		n += x.emitAll(s, p, entry, each)
	}
	if n == 0 {
		n = x.timeouts(s, each)
	}
	return n, nil
}

// of is e as it happens to one process.
func (e *RuntimeError) of(process string) *RuntimeError {
	mine := *e
	mine.Process = process
	return &mine
}

// process calls each with the successors of s by one process.
func (x *expander) process(s []uint32, p int, each func(int, []uint32)) (int, *RuntimeError) {
	entry := x.outcomes(s, p)
	if entry[0] == wrong {
		return 0, x.errs[entry[1]].of(x.m.Procs[p].Name)
	}
	return x.emitAll(s, p, entry, each), nil
}

// emitAll puts each outcome of an entry into s.
func (x *expander) emitAll(s []uint32, p int, entry []uint32, each func(int, []uint32)) int {
	if entry[0] == 0 {
		return 0
	}
	n, node := int(entry[0]), x.part(s[p]).node
	entry = entry[1:]
	for range n {
		x.emit(s, p, entry, node, each)
		entry = entry[2+len(node.foot.spaces):]
	}
	return n
}

// emit puts one outcome into s.
func (x *expander) emit(s []uint32, p int, outcome []uint32, node *Node, each func(int, []uint32)) {
	copy(x.next, s)
	x.place(x.next, p, outcome, node)
	x.canonical(x.next)
	each(p, x.next)
}

// place puts what a step of process p has changed into s.
func (x *expander) place(s []uint32, p int, outcome []uint32, node *Node) {
	mem := len(x.m.Procs)
	s[p] = outcome[0]
	if node.foot.mem {
		s[mem] = outcome[1]
	}
	for i, sp := range node.foot.spaces {
		s[mem+1+sp] = outcome[2+i]
	}
}

// canonical puts the one state into s that stands for all that are like it.
func (x *expander) canonical(s []uint32) {
	if x.r.Dead && x.m.mortal {
		x.forget(s)
	}
	for _, g := range x.groups {
		for i := 1; i < len(g); i++ {
			id := s[g[i]]
			print, k := x.part(id).print, i
			for ; k > 0 && s[g[k-1]] != id && x.part(s[g[k-1]]).print > print; k-- {
				s[g[k]] = s[g[k-1]]
			}
			s[g[k]] = id
		}
	}
}

// forget sets the shared variables to 0 that nobody can read before it is written.
func (x *expander) forget(s []uint32) {
	var live uint64
	for p := range x.m.Procs {
		live |= x.part(s[p]).live
	}
	mem := &s[len(x.m.Procs)]
	k := deadKey{*mem, live}
	id, ok := x.dead[k]
	if !ok {
		values := slices.Clone(x.t.mem.get(*mem))
		for v := range min(64, len(values)) {
			if live>>v&1 == 0 {
				values[v] = 0
			}
		}
		id = x.t.mem.intern(values, hashValues(values))
		if len(x.dead) >= maxMemo {
			clear(x.dead)
		}
		x.dead[k] = id
	}
	*mem = id
}
