package explore

import "math"

// Components finds strongly connected components (Tarjan 1972), without recursion. The
// nodes are numbers from 0, and a component comes after all components that it leads to.
type Components struct {
	// Next returns the i-th successor of a node, and whether it exists. It may number
	// new nodes.
	Next func(node int32, i int) (to int32, ok bool)
	// Found is called with each component, which is valid during the call. If it returns false the search ends.
	Found func(component []int32) bool

	nodes []componentNode
	stack []int32
	count int32
}

// componentNode is what Components knows about a node.
type componentNode struct {
	index int32 // order of discovery from 1; 0 is not visited, inComponent is off the stack
	low   int32 // the least index that the search from the node leads back to
}

// inComponent is the index of a node whose component was found. It is greater than any other, so it lowers no low.
const inComponent = math.MaxInt32

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
			} else {
				c.nodes[n].low = min(c.nodes[n].low, c.nodes[to].index)
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1].node
			c.nodes[up].low = min(c.nodes[up].low, c.nodes[n].low)
		}
		if c.nodes[n].low == c.nodes[n].index && !c.Found(c.pop(n)) {
			return false
		}
	}
	return true
}

func (c *Components) visited(n int32) bool { return int(n) < len(c.nodes) && c.nodes[n].index != 0 }

// enter gives a node the next index and puts it on the stack.
func (c *Components) enter(n int32) {
	if missing := int(n) + 1 - len(c.nodes); missing > 0 {
		c.nodes = append(c.nodes, make([]componentNode, missing)...)
	}
	c.count++
	c.nodes[n] = componentNode{c.count, c.count}
	c.stack = append(c.stack, n)
}

// pop removes the component with the root n from the stack, and returns it; it is valid until the next node is
// entered. n must be on the stack.
func (c *Components) pop(n int32) []int32 {
	i := len(c.stack) - 1
	for c.stack[i] != n {
		i--
	}
	component := c.stack[i:]
	c.stack = c.stack[:i]
	for _, m := range component {
		c.nodes[m].index = inComponent
	}
	return component
}
