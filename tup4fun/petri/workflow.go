package petri

// offTheWay lists the places and transitions that lie on no way from the source of a net to its sink, in
// the order of the net. A workflow net has none. It returns nil if the net has not exactly one place
// without a transition before it and one without a transition behind it.
func (n *Net) offTheWay() []string {
	nodes := len(n.Places) + len(n.Transitions)
	after, before := make([][]int, nodes), make([][]int, nodes)
	link := func(from, to int) {
		after[from], before[to] = append(after[from], to), append(before[to], from)
	}
	for i, t := range n.Transitions {
		at := len(n.Places) + i
		for _, a := range t.In {
			link(a.Place, at)
		}
		for _, a := range t.Out {
			link(at, a.Place)
		}
	}
	source, sink := only(before[:len(n.Places)]), only(after[:len(n.Places)])
	if source < 0 || sink < 0 || source == sink {
		return nil
	}
	fromSource, toSink := reached(after, source), reached(before, sink)
	var off []string
	for i := range nodes {
		switch {
		case fromSource[i] && toSink[i]:
		case i < len(n.Places):
			off = append(off, n.Places[i])
		default:
			off = append(off, n.Transitions[i-len(n.Places)].Name)
		}
	}
	return off
}

// only returns the index of the one empty list, or -1 if there are none or several.
func only(lists [][]int) int {
	found := -1
	for i, l := range lists {
		if len(l) > 0 {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// reached returns which nodes can be reached from a node.
func reached(next [][]int, from int) []bool {
	seen := make([]bool, len(next))
	seen[from] = true
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}
