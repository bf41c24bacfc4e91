package draw

// placer places labels at edges, if possible without covering other labels or nodes.
type placer struct{ taken []box }

// edgePositions are the positions on an edge that are tried, in order of preference.
var edgePositions = []float64{0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8, 0.15, 0.85, 0.1, 0.9}

// place returns the centre of a label of the edge c. Of the positions along c it takes the first
// that overlaps nothing, else the one that overlaps least, and notes its box as taken, so that
// the order of the calls matters.
func (p *placer) place(c curve, text string) point {
	w := float64(len([]rune(text))*letterWidth + 8)
	var best box
	least := -1.0
	for _, t := range edgePositions {
		at := c.at(t)
		b := box{at.x - w/2, at.y - lineHeight/2, w, lineHeight}
		covered := 0.0
		for _, other := range p.taken {
			covered += b.overlap(other)
		}
		if least < 0 || covered < least {
			best, least = b, covered
		}
		if covered == 0 {
			break
		}
	}
	p.taken = append(p.taken, best)
	return point{best.x + w/2, best.y + lineHeight/2}
}

// overlap returns the area that two boxes share.
func (b box) overlap(o box) float64 {
	w := min(b.x+b.w, o.x+o.w) - max(b.x, o.x)
	h := min(b.y+b.h, o.y+o.h) - max(b.y, o.y)
	return max(w, 0) * max(h, 0)
}
