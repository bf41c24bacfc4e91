package petri

import (
	"slices"
	"strings"

	"leasehold/tup4fun/explore"
)

// unknown returns the finding for a property of all markings if not all are known.
func (c *checker) unknown() Finding {
	if c.cover.Reason == "" {
		return incomplete("the net is unbounded")
	}
	return incomplete("%s", c.cover.Reason)
}

// isLive requires that every transition fires in each terminal component of the reachability
// graph, because a run can stay in such a component forever. The graph of a bounded net is
// complete. For an unbounded net only a violation can be found: a transition that fires
// nowhere in a complete coverability graph, or a deadlock.
func (c *checker) isLive() Finding {
	if dead := c.neverFiring(); len(dead) > 0 && c.cover.Reason == "" {
		return Finding{Outcome: explore.Violated, Detail: "can never fire: " + strings.Join(c.net.names(dead), ", ")}
	}
	if !c.bounded {
		if i := c.deadlock(); i >= 0 {
			return c.violated(c.reach, i, "nothing can fire in %s", c.net.Text(c.reach.Marking(i)))
		}
		return c.unknown()
	}
	for _, t := range c.reach.terminals() {
		var dead []int
		for i := range c.net.Transitions {
			if !t.fires[i] {
				dead = append(dead, i)
			}
		}
		if len(dead) > 0 {
			return c.violated(c.reach, t.first, "from %s on these never fire again: %s",
				c.net.Text(c.reach.Marking(t.first)), strings.Join(c.net.names(dead), ", "))
		}
	}
	return holds("")
}

// isReversible requires a path from every marking to the initial one, which has the
// number 0.
func (c *checker) isReversible() Finding {
	return c.alwaysReaches(func(i int) bool { return i == 0 }, "from %s there is no way back to the start")
}

// completes decides the option to complete, a property of workflow nets: a final marking
// can be reached from every marking.
func (c *checker) completes() Finding {
	if len(c.net.Final) == 0 {
		return incomplete("the net has no final marking")
	}
	isFinal := func(i int) bool { return c.net.IsFinal(c.reach.Marking(i)) }
	return c.alwaysReaches(isFinal, "from %s no final marking can be reached")
}

// alwaysReaches requires a path from every marking to a target; unreachable describes a marking
// without one. For an unbounded net a deadlock other than a target refutes it.
func (c *checker) alwaysReaches(isTarget func(i int) bool, unreachable string) Finding {
	if !c.bounded {
		if i := c.deadlock(); i >= 0 && !isTarget(i) {
			return c.violated(c.reach, i, "nothing can fire in %s", c.net.Text(c.reach.Marking(i)))
		}
		return c.unknown()
	}
	var targets []int
	for i := range c.reach.keys {
		if isTarget(i) {
			targets = append(targets, i)
		}
	}
	if i := slices.Index(c.reach.leadsTo(targets), false); i >= 0 {
		return c.violated(c.reach, i, unreachable, c.net.Text(c.reach.Marking(i)))
	}
	return holds("")
}

// isProper decides proper completion: no marking covers a final one and has further tokens.
// Without final markings it is incomplete; of an unbounded net it asks the graph with Omega
// (properByCover), because the markings are infinitely many.
func (c *checker) isProper() Finding {
	if len(c.net.Final) == 0 {
		return incomplete("the net has no final marking")
	}
	first, final, more := -1, 0, 0
	for i := range c.reach.keys {
		m := c.reach.Marking(i)
		switch {
		case c.net.IsFinal(m):
			final++
		case slices.ContainsFunc(c.net.Final, m.Covers):
			if more++; first < 0 {
				first = i
			}
		}
	}
	switch {
	case first >= 0:
		return c.violated(c.reach, first, "of the %d markings that cover a final one, %d have tokens left over", final+more, more)
	case c.bounded:
		return holds("")
	}
	return c.properByCover()
}

// properByCover decides proper completion from the coverability graph alone: it is violated if a
// reachable marking covers a final one with a token more.
func (c *checker) properByCover() Finding {
	for _, f := range c.net.Final {
		for p := range f {
			more := slices.Clone(f)
			more[p]++
			if i := c.cover.Covering(more); i >= 0 {
				return Finding{Outcome: explore.Violated, Detail: "a reachable marking covers " + c.net.Text(more)}
			}
		}
	}
	return c.holdsIfComplete("")
}

// uncoverable decides that no reachable marking covers m. If one does, the reachability graph
// gives a trace; the coverability graph only the fact.
func (c *checker) uncoverable(m Marking) Finding {
	f := holds("")
	switch {
	case c.reach.Covering(m) >= 0:
		i := c.reach.Covering(m)
		f = c.violated(c.reach, i, "%s is reached", c.net.Text(c.reach.Marking(i)))
	case c.cover.Covering(m) >= 0:
		f = Finding{Outcome: explore.Violated, Detail: "a reachable marking covers it"}
	case c.cover.Reason != "":
		f = incomplete("%s", c.cover.Reason)
	}
	f.Property = "not coverable " + c.net.Text(m)
	return f
}
