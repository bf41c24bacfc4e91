package explore

import "slices"

// Components finds strongly connected components (Tarjan 1972), without recursion. The
// nodes are numbers from 0, and a component comes after all components that it leads to.
type Components struct {
	// Next returns the i-th successor of a node, and whether it exists. It may number
	// new nodes.
	Next func(node int32, i int) (to int32, ok bool)
	// Found is called with each component. If it returns false the search ends.
	Found func(component []int32) bool

	index, low []int32 // order of discovery from 1; 0 is not visited
	onStack    []bool
	stack      []int32
	count      int32
}

// From searches the nodes that root leads to and that are not visited yet, and calls Found with
// each strongly connected component (Tarjan's algorithm, without recursion, because paths may be
// long). It reports whether the search may go on: Found has never returned false.
func (c *Components) From(root int32) bool {
	type frame struct {
		node int32
		next int
	}
	if c.visited(root) {
		return true
	}
	c.enter(root)
	path := []frame{{root, 0}}
	for len(path) > 0 {
		f := &path[len(path)-1]
		n := f.node
		if to, ok := c.Next(n, f.next); ok {
			f.next++
			if !c.visited(to) {
				c.enter(to)
				path = append(path, frame{to, 0})
			} else if c.onStack[to] {
				c.low[n] = min(c.low[n], c.index[to])
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1].node
			c.low[up] = min(c.low[up], c.low[n])
		}
		if c.low[n] == c.index[n] && !c.Found(c.pop(n)) {
			return false
		}
	}
	return true
}

func (c *Components) visited(n int32) bool { return int(n) < len(c.index) && c.index[n] != 0 }

// enter gives a node the next index and puts it on the stack.
func (c *Components) enter(n int32) {
	for int(n) >= len(c.index) {
		c.index, c.low, c.onStack = append(c.index, 0), append(c.low, 0), append(c.onStack, false)
	}
	c.count++
	c.index[n], c.low[n], c.onStack[n] = c.count, c.count, true
	c.stack = append(c.stack, n)
}

// pop removes the component with the root n from the stack, and returns it. n must be on the
// stack.
func (c *Components) pop(n int32) []int32 {
	i := len(c.stack) - 1
	for c.stack[i] != n {
		i--
	}
	component := slices.Clone(c.stack[i:])
	c.stack = c.stack[:i]
	for _, m := range component {
		c.onStack[m] = false
	}
	return component
}
