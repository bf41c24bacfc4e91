package petri

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// bag is tokens of places. The names are not resolved yet.
type bag []struct {
	place  token
	weight int64
}

// bag reads {2*p0, p1}.
func (p *parser) bag() (bag, error) {
	b := bag{}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	if p.accept("}") {
		return b, nil
	}
	for {
		if p.tok.kind != word {
			return nil, p.expected("a place, or a number of tokens")
		}
		first, weight := p.advance(), int64(1)
		if p.accept("*") {
			var err error
			if weight, err = p.weight(first); err != nil {
				return nil, err
			}
			if first, err = p.name("a place"); err != nil {
				return nil, err
			}
		}
		b = append(b, struct {
			place  token
			weight int64
		}{first, weight})
		if !p.accept(",") {
			return b, p.expect("}")
		}
	}
}

func (p *parser) weight(t token) (int64, error) {
	switch n, err := strconv.ParseInt(t.text, 10, 64); {
	case strings.HasPrefix(t.text, "-") && strings.Trim(t.text, "-0123456789") == "":
		p.report(t.pos, "%s is negative; want a weight of 1 to %d", t, int64(maxWeight))
	case strings.Trim(t.text, "0123456789") != "":
		p.report(t.pos, "%s is not a number; want a weight of 1 to %d", t, int64(maxWeight))
	case err != nil || n < 1 || n > maxWeight:
		p.report(t.pos, "%s is out of range; want a weight of 1 to %d", t, int64(maxWeight))
	default:
		return n, nil
	}
	return 0, errBroken
}

// arcs resolves the places of a bag. The arcs are sorted by place.
func (p *parser) arcs(b bag) []Arc {
	var arcs []Arc
	seen := map[int]bool{}
	for _, item := range b {
		i, known := p.places[item.place.text]
		switch {
		case !known:
			p.report(item.place.pos, "there is no place %s", item.place)
		case seen[i]:
			p.report(item.place.pos, "%s is named twice; write the sum of both", item.place)
		default:
			seen[i] = true
			arcs = append(arcs, Arc{i, item.weight})
		}
	}
	slices.SortFunc(arcs, func(a, b Arc) int { return cmp.Compare(a.Place, b.Place) })
	return arcs
}

func (p *parser) marking(b bag) Marking {
	m := make(Marking, len(p.net.Places))
	for _, a := range p.arcs(b) {
		m[a.Place] = a.Weight
	}
	return m
}
