package draw

import (
	"slices"
	"strings"
)

// layout returns the box of each node and the size of the drawing. Each distance from the start
// is one layer, and each layer is centred. A box has the coordinates of its upper left corner; to
// its right, labelWidth is free for the labels of its edges.
func (g Graph) layout() (boxes []box, width, height float64) {
	boxes = make([]box, len(g.Nodes))
	for i, n := range g.Nodes {
		lines := strings.Split(n.Label, "\n")
		longest := 0
		for _, l := range lines {
			longest = max(longest, len([]rune(l)))
		}
		boxes[i].w, boxes[i].h = float64(longest*letterWidth+16), float64(len(lines)*lineHeight+8)
	}
	y := float64(margin)
	for _, layer := range g.layers() {
		x, h := float64(margin), 0.0
		for _, n := range layer {
			boxes[n].x, boxes[n].y = x, y
			x += boxes[n].w + nodeGap + g.labelWidth(n)
			h = max(h, boxes[n].h)
		}
		width = max(width, x)
		y += h + layerGap
	}
	for _, layer := range g.layers() {
		last := layer[len(layer)-1]
		shift := (width - boxes[last].x - boxes[last].w - nodeGap) / 2
		for _, n := range layer {
			boxes[n].x += max(0, shift)
		}
	}
	return boxes, width + 8*margin, y // with space at the right for curves that lead upwards
}

// labelWidth returns the space for the longest label at an edge from n.
func (g Graph) labelWidth(n int) float64 {
	longest := 0
	for _, e := range g.Edges {
		if e.From == n {
			longest = max(longest, len(e.Label))
		}
	}
	return float64(min(longest, 40) * letterWidth)
}

// layers assigns each node to the layer of its distance from a start: node 0, or a node
// with the mark. Nodes that no start leads to follow in further layers. A layer is
// ordered by the positions of the neighbours above.
func (g Graph) layers() [][]int {
	next := make([][]int, len(g.Nodes))
	for _, e := range g.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	seen := make([]bool, len(g.Nodes))
	var now []int
	for i, n := range g.Nodes {
		if n.Mark == Start || i == 0 {
			seen[i] = true
			now = append(now, i)
		}
	}
	var layers [][]int
	for i := 0; ; i++ {
		if len(now) > 0 {
			layers = append(layers, now)
		}
		now = g.nextLayer(now, next, seen)
		if len(now) > 0 {
			continue
		}
		rest := slices.Index(seen, false)
		if rest < 0 {
			return layers
		}
		seen[rest] = true
		now = []int{rest}
	}
}

// nextLayer returns the layer below now, ordered by the mean position of the nodes above:
// the successors (next) that are not in seen, to which it adds them. count is never 0 for
// a node of the layer, because some edge led to it.
func (g Graph) nextLayer(now []int, next [][]int, seen []bool) []int {
	var below []int
	sum, count := map[int]int{}, map[int]int{}
	for at, n := range now {
		for _, to := range next[n] {
			if !seen[to] {
				seen[to] = true
				below = append(below, to)
			}
			sum[to] += at
			count[to]++
		}
	}
	slices.SortStableFunc(below, func(a, b int) int { return sum[a]*count[b] - sum[b]*count[a] })
	return below
}
