package page

import (
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// Limits of the pages of visits.
const (
	maxNext  = 50
	maxPast  = 50
	maxTaken = 50

	originProblems = 20
)

// visitsPage is the visits of now and those that come next.
type visitsPage struct {
	Now      []types.Visit
	NowTotal int
	Next     []types.NextVisit
	Warnings []string // of the capacity
	Trouble  []attentionRow
}

func readVisits(v *visit) (any, error) {
	page := visitsPage{Trouble: v.attentionTo(models.CauseNoManager, models.CauseHostRests, models.CauseDisabled)}
	var waiting types.Page[types.Visit]
	if err := v.get(v.Context(), path("visits"), url.Values{"limit": {strconv.Itoa(maxTaken)}}, &waiting); err != nil {
		return nil, err
	}
	page.Now, page.NowTotal = waiting.Items, waiting.Total
	var next types.Page[types.NextVisit]
	if _, err := v.getOptional(v.Context(), path("visits", "next"), url.Values{"limit": {strconv.Itoa(maxNext)}}, &next); err != nil {
		return nil, err
	}
	page.Next = next.Items
	var capacity types.Capacity
	_, err := v.getOptional(v.Context(), path("visits", "capacity"), nil, &capacity)
	page.Warnings = capacity.Warnings
	return page, err
}

// originPage is when an origin is visited, and its latest visits.
type originPage struct {
	types.Schedule
	Past     []pastVisit
	Problems types.Page[catalog.Problem] // the first of its inputs
}

type pastVisit struct{ types.PastVisit }

// Class is the class of its mark in the picture.
func (p pastVisit) Class() string {
	switch {
	case p.Error != "":
		return "bad"
	case p.Changed:
		return "on"
	}
	return ""
}

// X is where it is in a picture of the latest visits, the latest at the right.
func (o originPage) X(i int) int { return (len(o.Past) - 1 - i) * 14 }

// Width is the width of that picture.
func (o originPage) Width() int { return len(o.Past) * 14 }

func readOrigin(v *visit) (any, error) {
	var o originPage
	if err := v.get(v.Context(), path("origins", v.PathValue("origin"), "schedule"), nil, &o.Schedule); err != nil {
		return nil, err
	}
	v.title = o.URI
	for _, past := range o.History[:min(len(o.History), maxPast)] {
		o.Past = append(o.Past, pastVisit{past})
	}
	_, err := v.getOptional(v.Context(), path("problems"), url.Values{"origin": {v.PathValue("origin")}, "limit": {strconv.Itoa(originProblems)}}, &o.Problems)
	return o, err
}

// Rests reports whether the origin is not visited before a time in the future.
func (o originPage) Rests() bool { return o.Until.After(time.Now()) }
