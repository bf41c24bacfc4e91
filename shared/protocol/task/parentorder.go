package task

import (
	"fmt"

	"leasehold/shared/fault"
)

// sortByParents returns the positions of the tasks in an order in which each comes behind its parents, and the
// positions of those with names. Any parent not named in the request is the id of an older task, and changes no
// order. It fails with fault.ErrConflict for a cycle and for a name of two tasks.
func sortByParents(news []New) (order []int, refs map[string]int, err error) {
	if refs, err = refsOf(news); err != nil {
		return nil, nil, err
	}
	// Kahn's algorithm: a task is appended to order when all its parents in the request are there.
	parentsLeft, children := make([]int, len(news)), make([][]int, len(news))
	for n, w := range news {
		for _, parent := range w.After {
			if local, ok := refs[parent]; ok {
				parentsLeft[n]++
				children[local] = append(children[local], n)
			}
		}
	}
	for n := range news {
		if parentsLeft[n] == 0 {
			order = append(order, n)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, child := range children[order[at]] {
			if parentsLeft[child]--; parentsLeft[child] == 0 {
				order = append(order, child)
			}
		}
	}
	if len(order) < len(news) {
		return nil, nil, fmt.Errorf("%w: the tasks wait for each other in a cycle", fault.ErrConflict)
	}
	return order, refs, nil
}

// refsOf returns the positions of the named tasks, by name. A name is valid only within the request.
func refsOf(news []New) (map[string]int, error) {
	refs := map[string]int{}
	for n, w := range news {
		if w.Ref == "" {
			continue
		}
		if err := checkName("ref", w.Ref); err != nil {
			return nil, err
		}
		if _, twice := refs[w.Ref]; twice {
			return nil, fmt.Errorf("%w: two tasks have the ref %q", fault.ErrConflict, w.Ref)
		}
		refs[w.Ref] = n
	}
	return refs, nil
}
