package simulate

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// A Kind is a part of the origins of a scenario, with the rules of one kind of origin.
type Kind struct {
	Kind       string  `json:"kind"`        // such as feed or git
	Share      float64 `json:"share"`       // of the origins
	MedianRate float64 `json:"median_rate"` // changes per day; 0: as in the scenario
	Window     float64 `json:"window"`      // items in a document; 0: as in the scenario
}

// mostKinds limits Scenario.Kinds.
const mostKinds = 10

// checkKinds returns fault.ErrInvalid if a number of a kind is out of range.
func (s Scenario) checkKinds() error {
	sum := 0.0
	for _, k := range s.Kinds {
		if !(k.Share > 0 && k.Share <= 1) || !(k.MedianRate >= 0 && k.MedianRate <= 50) || !(k.Window >= 0 && k.Window <= 1e6) {
			return fmt.Errorf("kind %.40q: share %v, median_rate %v, window %v: %w: want above 0 to 1, 0 to 50, and 0 to 10^6", k.Kind, k.Share, k.MedianRate, k.Window, fault.ErrInvalid)
		}
		sum += k.Share
	}
	if len(s.Kinds) > mostKinds || sum > 1+1e-9 {
		return fmt.Errorf("%d kinds, which are %v of the origins: %w: want at most %d, and at most all", len(s.Kinds), sum, fault.ErrInvalid, mostKinds)
	}
	return nil
}

// drawKind draws the kind of an origin, and its rate by that of the kind. Origins beyond the shares have none.
func (w *world) drawKind(o *origin, g *rng) {
	if len(w.Kinds) == 0 {
		return
	}
	u := g.uniform()
	for i, k := range w.Kinds {
		u -= k.Share
		if u < 0 {
			o.kind = uint8(i + 1)
			if k.MedianRate > 0 {
				o.rate = min(max(o.rate*k.MedianRate/w.MedianRate, 1e-6), 100)
			}
			return
		}
	}
}

// kindOf returns the kind of an origin, or nil.
func (w *world) kindOf(o *origin) *Kind {
	if o.kind == 0 {
		return nil
	}
	return &w.Kinds[o.kind-1]
}

// typeOf returns the type of the visits of an origin.
func (w *world) typeOf(o *origin) string {
	if k := w.kindOf(o); k != nil {
		return k.Kind
	}
	return ""
}

// rulesOf returns the rules of an origin.
func (r *run) rulesOf(o *origin) policy.Rules {
	if o.kind == 0 {
		return r.rules
	}
	return r.kindRules[o.kind-1]
}
