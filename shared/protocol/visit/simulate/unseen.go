package simulate

import "iter"

// A times is a list of times, ascending; the zero value is empty. It belongs to one
// timesOf.
type times struct {
	first, last int32 // in timesOf.nodes; 0: none
	length      int32
}

// timesOf holds many short lists of times in one slice, because a slice for each of 10^6
// origins would keep the garbage collector busy.
type timesOf struct {
	nodes []timesNode // the first is not used
	free  int32       // the first of the nodes that no list has; 0: none
}

type timesNode struct {
	at   int32 // seconds after start
	next int32
}

// add appends a time to a list, in a free node if there is one. Node 0 is not used, because 0 is
// the end of a list. Times are kept as seconds since start, to halve the memory.
func (t *timesOf) add(list *times, at int64) {
	i := t.free
	if i > 0 {
		t.free = t.nodes[i].next
	} else {
		if len(t.nodes) == 0 {
			t.nodes = append(t.nodes, timesNode{})
		}
		i = int32(len(t.nodes))
		t.nodes = append(t.nodes, timesNode{})
	}
	t.nodes[i] = timesNode{at: int32(at - start)}
	if list.length++; list.first == 0 {
		list.first = i
	} else {
		t.nodes[list.last].next = i
	}
	list.last = i
}

// of iterates over a list.
func (t *timesOf) of(list *times) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := list.first; i != 0; i = t.nodes[i].next {
			if !yield(start + int64(t.nodes[i].at)) {
				return
			}
		}
	}
}

// clear empties a list and frees its nodes as a whole.
func (t *timesOf) clear(list *times) {
	if list.first != 0 {
		t.nodes[list.last].next, t.free = t.free, list.first
	}
	*list = times{}
}
