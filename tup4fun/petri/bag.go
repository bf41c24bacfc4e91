package petri

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"leasehold/tup4fun/syntax"
)

// bag is tokens of places. The names are not resolved yet.
type bag []struct {
	place  syntax.Token
	weight int64
}

// bag reads {2*p0, p1}. The places are resolved later, by resolveArcs.
func (p *parser) bag() (bag, error) {
	b := bag{}
	if err := p.Need("{", ""); err != nil {
		return nil, err
	}
	if p.Accept("}") {
		return b, nil
	}
	err := p.Separated(",", func() (err error) {
		if p.Tok.Kind != syntax.WordToken {
			return p.Expected("a place, or a number of tokens")
		}
		first, weight := p.Advance(), int64(1)
		if p.Accept("*") {
			if weight, err = p.weight(first); err != nil {
				return err
			}
			if first, err = p.name("a place"); err != nil {
				return err
			}
		}
		b = append(b, struct {
			place  syntax.Token
			weight int64
		}{first, weight})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, p.Need("}", "")
}

// weight returns the number of tokens that a word of a bag writes, 1 to maxWeight. The
// error is always syntax.ErrBroken: what is wrong was reported at the place of the word.
func (p *parser) weight(t syntax.Token) (int64, error) {
	switch n, err := strconv.ParseInt(t.Text, 10, 64); {
	case strings.HasPrefix(t.Text, "-") && strings.Trim(t.Text, "-0123456789") == "":
		p.Report(t.Pos, "%s is negative; want a weight of 1 to %d", t, int64(maxWeight))
	case strings.Trim(t.Text, "0123456789") != "":
		p.Report(t.Pos, "%s is not a number; want a weight of 1 to %d", t, int64(maxWeight))
	case err != nil || n < 1 || n > maxWeight:
		p.Report(t.Pos, "%s is out of range; want a weight of 1 to %d", t, int64(maxWeight))
	default:
		return n, nil
	}
	return 0, syntax.ErrBroken
}

// resolveArcs resolves the places of a bag. The arcs are sorted by place. Unknown places, and
// places named twice, are reported and left out.
func (p *parser) resolveArcs(b bag) []Arc {
	var arcs []Arc
	seen := map[int]bool{}
	for _, item := range b {
		i, known := p.places[item.place.Text]
		switch {
		case !known:
			p.Report(item.place.Pos, "there is no place %s", item.place)
		case seen[i]:
			p.Report(item.place.Pos, "%s is named twice; write the sum of both", item.place)
		default:
			seen[i] = true
			arcs = append(arcs, Arc{i, item.weight})
		}
	}
	slices.SortFunc(arcs, func(a, b Arc) int { return cmp.Compare(a.Place, b.Place) })
	return arcs
}

// marking resolves a bag to the tokens of each place.
func (p *parser) marking(b bag) Marking {
	m := make(Marking, len(p.net.Places))
	for _, a := range p.resolveArcs(b) {
		m[a.Place] = a.Weight
	}
	return m
}
