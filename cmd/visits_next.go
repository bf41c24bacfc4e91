package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/apitypes"
	"leasehold/shared/config"
)

// newVisitsNext is `leasehold visits next`.
func (a *app) newVisitsNext() *cobra.Command {
	var n int
	var explain bool
	c := &cobra.Command{
		Use:   "next",
		Short: "print the origins to visit next, the best first",
		Long: `Print the origins to visit next, the best first. With --explain, also print
why: the pool in which each waits, the class of its rate, and the value of a
visit now; and below them the origins that are not visited now, and why.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	c.Flags().IntVarP(&n, "number", "n", 20, "maximum number of origins")
	c.Flags().BoolVar(&explain, "explain", false, "print why each is next, and why others are not")
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		if n < 1 || n > 1000 {
			return usagef("-n %d: want 1 to 1000", n)
		}
		return a.showNext(ctx, o, s, n, explain)
	})
	config.BindFlags(c.Flags(), catalogKeys...)
	return c
}

func (a *app) showNext(ctx context.Context, o *output, s *node.CatalogSource, n int, explain bool) error {
	next, err := s.NextVisits(ctx, n)
	if err != nil {
		return err
	}
	rows := make([]nextRow, len(next))
	seen := map[string]bool{}
	for i, x := range next {
		rows[i] = nextRow{NextVisit: x, explain: explain}
		if explain {
			rows[i].Why = because(x)
		}
		seen[x.Origin] = true
	}
	if explain && len(next) < n {
		resting, err := resting(ctx, s, seen, n-len(next))
		if err != nil {
			return err
		}
		rows = append(rows, resting...)
	}
	return show(a, o, rows, "nothing is due")
}

// resting returns origins that are not next, with the reasons.
func resting(ctx context.Context, s *node.CatalogSource, next map[string]bool, most int) (rows []nextRow, err error) {
	origins, err := s.Catalog.Origins(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range origins {
		if next[o.ID] || !o.Kind.Visited() || len(rows) >= most {
			continue
		}
		x, err := s.Schedule(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		rows = append(rows, nextRow{explain: true, Why: "not now: " + reason(x), NextVisit: apitypes.NextVisit{
			Origin: x.Origin, Kind: x.Kind, URI: x.URI, Pool: x.Pool, Class: x.Class, Rate: x.Rate, Value: x.Value,
		}})
	}
	return rows, nil
}

// because returns why an origin is next.
func because(x apitypes.NextVisit) string {
	why := map[string]string{
		"first": "never visited", "known": "changes expected since the last visit", "quiet": "its lister dates no change, but may overlook one",
		"signal": "its lister dates a change", "save-now": "a visit was requested",
		"A": "no dates", "B1": "dated, never visited", "B2": "dated after its last visit", "B3": "last resort: no date is newer than its last visit",
		"all": "it waits longest",
	}[x.Pool]
	if x.Pool == "save-now" {
		return why
	}
	return fmt.Sprintf("%s: %.2g changes a day (class %d), value %.3g", why, x.Rate, x.Class, x.Value)
}

// nextRow is an origin that is visited next, or not now, as a row.
type nextRow struct {
	apitypes.NextVisit
	Why     string `json:"why,omitempty"` // with --explain
	explain bool
}

func (r nextRow) columns() []column {
	class, value := queued(r.Pool, r.Class, r.Value)
	return []column{
		{head: "id", cell: r.Origin}, {head: "kind", cell: string(r.Kind)}, {head: "pool", cell: r.Pool}, {head: "class", cell: class},
		{head: "value", cell: value}, {head: "uri", cell: r.URI}, {head: "why", cell: r.Why},
	}
}
