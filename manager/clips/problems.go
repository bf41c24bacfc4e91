package clips

import (
	"fmt"

	"leasehold/models"
)

// problems collects the first problemLimit problems of a listing, and counts the rest.
type problems struct {
	origin string
	list   []models.Problem
	more   int
}

// add adds a problem, or only counts it if there are problemLimit.
func (p *problems) add(item, reason string, args ...any) {
	if len(p.list) >= problemLimit {
		p.more++
		return
	}
	p.list = append(p.list, models.Problem{Origin: p.origin, Item: item, Reason: fmt.Sprintf(reason, args...)})
}

// all returns the problems, with one at the end that counts those beyond the limit.
func (p *problems) all() []models.Problem {
	if p.more == 0 {
		return p.list
	}
	return append(p.list, models.Problem{Origin: p.origin, Reason: fmt.Sprintf("and %d more problems", p.more)})
}
