package petri

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/tup4fun/explore"
)

// checker holds the data that findings are derived from.
type checker struct {
	net     *Net
	cover   *Graph
	reach   *Graph // the reachability graph; cover itself if the net is bounded
	bounded bool   // the net is proved to be bounded
}

// unbounded lists the places that have Omega in some marking.
func (g *Graph) unbounded() []int {
	var places []int
	for p, most := range g.most() {
		if most == Omega {
			places = append(places, p)
		}
	}
	return places
}

// most returns the greatest number of tokens in each place.
func (g *Graph) most() Marking {
	most := make(Marking, len(g.Net.Places))
	for i := range g.keys {
		for p, tokens := range g.Marking(i) {
			most[p] = max(most[p], tokens)
		}
	}
	return most
}

// bounds lists the places in the order of the net with the highest number of tokens that
// each reaches: -1 for one without a bound (Omega), which is known even if the graph is
// incomplete, because no later marking takes Omega back. Any other number is known only if
// the graph is complete, which is when Reason is empty.
func (c *checker) bounds() []PlaceBound {
	all := []PlaceBound{}
	for p, most := range c.cover.most() {
		b := PlaceBound{c.net.Places[p], most, c.cover.Reason == ""}
		if most == Omega {
			b.Most, b.Known = -1, true
		}
		all = append(all, b)
	}
	return all
}

// decide decides one property by its name. An unknown name is Incomplete. The Finding has the name.
func (c *checker) decide(property string) Finding {
	find := map[string]func() Finding{
		Bounded: c.isBounded, Safe: c.isSafe, DeadlockFree: c.isDeadlockFree, QuasiLive: c.isQuasiLive,
		Live: c.isLive, Reversible: c.isReversible, Completes: c.completes, Proper: c.isProper,
	}[property]
	if find == nil {
		return Finding{Property: property, Outcome: explore.Incomplete, Detail: "unknown property"}
	}
	f := find()
	f.Property = property
	return f
}

func holds(format string, args ...any) Finding {
	return Finding{Outcome: explore.Holds, Detail: fmt.Sprintf(format, args...)}
}

func incomplete(format string, args ...any) Finding {
	return Finding{Outcome: explore.Incomplete, Detail: fmt.Sprintf(format, args...)}
}

// holdsIfComplete returns Holds, or Incomplete if not all markings were explored.
func (c *checker) holdsIfComplete(format string, args ...any) Finding {
	if c.cover.Reason != "" {
		return incomplete("%s", c.cover.Reason)
	}
	return holds(format, args...)
}

// violated returns a finding that marking i of g shows.
func (c *checker) violated(g *Graph, i int, format string, args ...any) Finding {
	return Finding{Outcome: explore.Violated, Detail: fmt.Sprintf(format, args...),
		Marking: c.net.Text(g.Marking(i)), Firing: c.net.names(g.Path(i))}
}

// isBounded decides whether no place grows without bound. If one does, the finding has the way to a
// loop that adds tokens, and the loop; a graph that was cut off may have such places without a
// known loop.
func (c *checker) isBounded() Finding {
	places := c.cover.unbounded()
	if len(places) > 0 {
		f := Finding{Outcome: explore.Violated, Detail: "no bound for " + c.names(places)}
		if len(c.cover.pumps) > 0 {
			p := c.cover.pumps[0]
			f.Marking, f.Firing, f.Repeat = c.net.Text(c.cover.Marking(p.at)), c.net.names(c.cover.Path(p.at)), c.net.names(p.loop)
		}
		return f
	}
	return c.holdsIfComplete("at most %d tokens in a place", slices.Max(append(c.cover.most(), 0)))
}

// isSafe searches for a marking with two tokens in a place. The marking may have Omega, so a
// reachable one that covers it is reported if one is known. If the graph is incomplete and has
// none, the finding is incomplete.
func (c *checker) isSafe() Finding {
	for i := range c.cover.keys {
		m := c.cover.Marking(i)
		p := slices.IndexFunc(m, func(tokens int64) bool { return tokens > 1 })
		if p < 0 {
			continue
		}
		two := make(Marking, len(m))
		two[p] = 2
		if at := c.reach.Covering(two); at >= 0 {
			return c.violated(c.reach, at, "%s can have more than one token", c.net.Places[p])
		}
		return Finding{Outcome: explore.Violated, Detail: c.net.Places[p] + " can have more than one token"}
	}
	return c.holdsIfComplete("")
}

// isDeadlockFree searches for a marking in which no transition can fire. If not all
// markings are known, it suffices that every marking of the coverability graph enables a
// transition without tokens from unbounded places, because the tokens in the other places
// are exact.
func (c *checker) isDeadlockFree() Finding {
	if i := c.deadlock(); i >= 0 {
		return c.violated(c.reach, i, "nothing can fire in %s", c.net.Text(c.reach.Marking(i)))
	}
	if c.bounded {
		return holds("")
	}
	if c.cover.Reason != "" {
		return incomplete("%s", c.cover.Reason)
	}
	for i := range c.cover.keys {
		if !c.movesWithoutUnbounded(c.cover.Marking(i)) {
			return incomplete("the net is unbounded, and no explored marking is a deadlock")
		}
	}
	return holds("some transition that needs no tokens from unbounded places can always fire")
}

// deadlock returns the first known marking in which no transition can fire, or -1.
func (c *checker) deadlock() int {
	for i := range c.reach.keys {
		if !c.net.CanMove(c.reach.Marking(i)) {
			return i
		}
	}
	return -1
}

// movesWithoutUnbounded reports whether a transition can fire without tokens from
// unbounded places. It changes m.
func (c *checker) movesWithoutUnbounded(m Marking) bool {
	for p, tokens := range m {
		if tokens == Omega {
			m[p] = 0
		}
	}
	return c.net.CanMove(m)
}

// neverFiring lists the transitions that do not fire in the coverability graph; if it is complete,
// they can never fire.
func (c *checker) neverFiring() []int {
	fires := make([]bool, len(c.net.Transitions))
	for _, es := range c.cover.edges {
		for _, e := range es {
			fires[e.Transition] = true
		}
	}
	var dead []int
	for t, yes := range fires {
		if !yes {
			dead = append(dead, t)
		}
	}
	return dead
}

// isQuasiLive decides whether each transition can fire at least once. In a graph that was
// cut off, those that were not seen to fire may fire later.
func (c *checker) isQuasiLive() Finding {
	switch dead := c.neverFiring(); {
	case len(dead) == 0:
		return holds("")
	case c.cover.Reason != "":
		return incomplete("%s", c.cover.Reason)
	default:
		return Finding{Outcome: explore.Violated, Detail: "can never fire: " + strings.Join(c.net.names(dead), ", ")}
	}
}

// names joins the names of places.
func (c *checker) names(places []int) string {
	var all []string
	for _, p := range places {
		all = append(all, c.net.Places[p])
	}
	return strings.Join(all, ", ")
}
