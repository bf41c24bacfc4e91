package explore

import (
	"context"
	"slices"
)

// Part bounds the part of a state graph that BuildPart explores.
type Part struct {
	Most  int     // states in the first levels: as many whole levels as have no more together
	Runs  [][]int // runs as numbers of steps (Run.Choices), whose states are expanded too
	Total int     // of all states, at which runs end
}

// BuildPart explores the first levels of the state graph of a model, and then the states of runs. It
// returns the states of each run, as far as it is in the graph. The number of a state depends on the
// runs before. It uses no reductions.
func BuildPart(ctx context.Context, m *Model, p Part) (g *Graph, runs [][]int) {
	g = newGraph(m, Reduction{})
	for i := range firstLevels(ctx, m, p.Most) {
		g.expand(i)
	}
	for _, run := range p.Runs {
		runs = append(runs, g.expandRun(ctx, run, p.Total))
	}
	return g, runs
}

// firstLevels returns the number of states to expand so that the graph has only whole levels with at
// most that many states, or all states.
func firstLevels(ctx context.Context, m *Model, most int) int {
	g := newGraph(m, Reduction{})
	for level := 0; level < len(g.edges) && ctx.Err() == nil; {
		end := len(g.edges)
		for i := level; i < end; i++ {
			if g.expand(i); len(g.edges) > most {
				return level
			}
		}
		level = end
	}
	return len(g.edges)
}

// expandRun expands the states of a run until the graph has total states, and returns them.
func (g *Graph) expandRun(ctx context.Context, run []int, total int) []int {
	at := 0
	states := []int{0}
	for i := 0; ; i++ {
		if !g.expanded[at] {
			if len(g.edges) >= total || ctx.Err() != nil {
				return states
			}
			g.expand(at)
		}
		if i == len(run) || run[i] < 0 || run[i] >= len(g.edges[at]) {
			return states
		}
		at = int(g.edges[at][run[i]].to)
		states = append(states, at)
	}
}

// Ways returns, for each state of a graph, the step that first leads to it: the state before and the
// number of the step there. For the initial state both are -1.
func (g *Graph) Ways() []Way {
	ways := make([]Way, len(g.edges))
	for i := range ways {
		ways[i] = Way{-1, -1}
	}
	for i, edges := range g.edges {
		for k, e := range edges {
			if ways[e.to].From < 0 && e.to != 0 {
				ways[e.to] = Way{i, k}
			}
		}
	}
	return ways
}

// Way is the last step of a run to a state.
type Way struct {
	From   int `json:"from"`
	Choice int `json:"choice"` // among Run.Choices
}

// RunTo returns the run to a state that ways describe, as the numbers of its steps.
func RunTo(ways []Way, state int) []int {
	run := []int{}
	for at := state; ways[at].From >= 0; at = ways[at].From {
		run = append(run, ways[at].Choice)
	}
	slices.Reverse(run)
	return run
}
