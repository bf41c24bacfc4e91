package explore

// outcomes returns the steps of process p in s, as an entry of the memo; steps of timeouts are
// not among them. They depend only on the process, the shared variables and at most four spaces,
// which are the key; with more spaces they are computed each time. The entry must not be changed.
func (x *expander) outcomes(s []uint32, p int) []uint32 {
	q := x.procInfo(s[p])
	node := q.node
	switch {
	case len(node.footprint.spaces) > 4:
		return x.computeSteps(s, p)
	case !node.footprint.mem && len(node.footprint.spaces) == 0:
		if q.steps == nil {
			steps := x.computeSteps(s, p)
			x.procInfo(s[p]).steps = steps // compute may have moved the slice that q points into
		}
		return x.procInfo(s[p]).steps
	}
	k := x.key(s, p, node)
	if entry, _ := x.memo.find(k); entry != nil {
		return entry
	}
	entry := x.computeSteps(s, p)
	_, slot := x.memo.find(k)
	x.memo.add(k, slot, entry)
	return entry
}

// key returns the memo key of the steps at a node, which has at most four spaces: the ids of the
// parts of s that the steps read or write, two in each word.
func (x *expander) key(s []uint32, p int, node *Node) memoKey {
	mem := len(x.model.Procs)
	k := memoKey{uint64(s[p]) << 32}
	if node.footprint.mem {
		k[0] |= uint64(s[mem])
	}
	for i, sp := range node.footprint.spaces {
		k[1+i/2] |= uint64(s[mem+1+sp]) << (32 * (i % 2))
	}
	return k
}

// loadFrame fills the frame with the state that the node of process p may touch. It is valid
// until the next load.
func (x *expander) loadFrame(s []uint32, p int) *frame {
	f, mem := &x.frame, len(x.model.Procs)
	f.err = nil
	f.proc = x.tables.procs.get(s[p])
	f.mem = x.tables.mem.get(s[mem])
	if f.spaces == nil {
		f.spaces = make([][]int64, len(x.model.Spaces))
	}
	for _, sp := range x.procInfo(s[p]).node.footprint.spaces {
		f.spaces[sp] = x.tables.spaces.get(s[mem+1+sp])
	}
	return f
}

// computeSteps runs the steps of one process and returns them as an entry of the memo. The
// entry of a step that fails is failedEntry and the index of its error in x.errs.
func (x *expander) computeSteps(s []uint32, p int) []uint32 {
	f := x.loadFrame(s, p)
	code, node := x.procInfo(s[p]).code, x.procInfo(s[p]).node
	entry := []uint32{0}
	x.step.runNode(code, f, func(_ *Edge, g *frame) {
		entry[0]++
		entry = x.appendOutcome(entry, code, node, g)
	})
	if f.err == nil {
		return entry
	}
	at := x.step.at
	x.errs = append(x.errs, &RuntimeError{Pos: at.Pos, Text: at.Text, Err: f.err})
	return []uint32{failedEntry, uint32(len(x.errs) - 1)}
}

// appendOutcome appends the state g after a step from node, in the form of the memo: the process,
// the shared variables (0 if the step cannot change them), and each space of node.footprint.
func (x *expander) appendOutcome(entry []uint32, code *Code, node *Node, g *frame) []uint32 {
	var mem uint32
	if node.footprint.mem {
		mem = x.tables.mem.intern(g.mem, hashValues(g.mem))
	}
	entry = append(entry, x.internLive(code, g.proc), mem)
	for _, sp := range node.footprint.spaces {
		entry = append(entry, x.internSpace(sp, g.spaces[sp]))
	}
	return entry
}

// internLive returns the number of a process state. With Reduction.Dead it sets the dead
// variables in values to 0.
func (x *expander) internLive(code *Code, values []int64) uint32 {
	if x.reduction.Dead {
		for i, live := range code.Nodes[values[atNode]].live {
			if !live {
				values[procHead+i] = 0 // moveTo has cloned values
			}
		}
	}
	return x.internProc(values)
}

// emitTimeouts calls each with the successors by timeout edges, which are enabled only if no
// other step is. It returns their number.
func (x *expander) emitTimeouts(s []uint32, each func(int, []uint32)) int {
	n := 0
	for p := range x.model.Procs {
		for _, e := range x.procInfo(s[p]).node.timeouts {
			f := x.loadFrame(s, p)
			x.step.taken[e.index] = true
			code, node := x.procInfo(s[p]).code, x.procInfo(s[p]).node
			x.step.moveTo(e, f, event{}, func(g *frame) {
				x.emit(s, p, x.appendOutcome(nil, code, node, g), node, each)
				n++
			})
		}
	}
	return n
}
