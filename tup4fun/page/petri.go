package page

import (
	"context"
	"errors"
	"io"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/petri"
	"leasehold/tup4fun/syntax"
)

// netRequest is a Petri net.
type netRequest struct {
	Net   string `json:"net"`   // .apt or PNML
	Final string `json:"final"` // a final marking, such as {p0, 2*p8}; "": those of the net
}

// netView is a report on a net, with its reachability graph.
type netView struct {
	*petri.Report
	SVG string `json:"svg"` // empty if there are too many markings
}

// petri checks a net within the limits. Errors in the net and in the marking are the answer mistakes.
func (p *Page) petri(ctx context.Context, body io.Reader) (any, error) {
	var r netRequest
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	return p.limited(ctx, func(ctx context.Context) (any, error) {
		n, err := r.parse()
		var wrong syntax.Errors
		if errors.As(err, &wrong) {
			found := boxErrors(wrong)
			for i, e := range wrong {
				found[i].Box = e.File
			}
			return mistakes{found}, nil
		}
		if err != nil {
			return nil, err
		}
		o := petri.Options{Memory: p.limits.Memory, Markings: int(p.limits.States)}
		v := netView{Report: petri.Check(ctx, "net", n, petri.Question{Options: o})}
		if g := petri.Cover(ctx, n, petri.Options{Markings: p.limits.Drawn}); g.Reason == "" {
			v.SVG = draw.Markings(g).SVG()
		}
		return v, nil
	})
}

// parse reads the net and its final marking. An error in them is a syntax.Errors with the name of the
// box as its file.
func (r netRequest) parse() (*petri.Net, error) {
	parse := petri.Parse
	if petri.IsPNML(r.Net) {
		parse = petri.ParsePNML
	}
	n, err := parse("net", r.Net)
	if err != nil || r.Final == "" {
		return n, err
	}
	final, err := petri.ParseMarking(n, "final", r.Final)
	n.Final = []petri.Marking{final}
	return n, err
}
