package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/visit/policy"
)

// newVisitsNext is `leasehold visits next`.
func (a *app) newVisitsNext() *cobra.Command {
	var n int
	var explain bool
	c := &cobra.Command{
		Use:   "next",
		Short: "print the origins to visit next, the best first",
		Long: `Print the origins to visit next, the best first. --explain adds the reason: the
pool in which each waits, the class of its rate of change, and the value of a
visit now. Below them it lists the origins that are not due, and why.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	c.Flags().IntVarP(&n, "number", "n", 20, "maximum number of origins")
	c.Flags().BoolVar(&explain, "explain", false, "print why each is next, and why others are not due")
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		if n < 1 || n > 1000 {
			return usagef("-n %d: want 1 to 1000", n)
		}
		return a.showNext(ctx, o, s, n, explain)
	})
	config.BindFlags(c.Flags(), visitKeys...)
	return a.watchable(c)
}

// showNext prints at most n origins that are next. With explain it prints why, and fills up to n with origins
// that are not next.
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
			rows[i].Why = because(x) + pace(x.HostGroup, x.HostGap) + missedItems(x.Overflows, x.Missed)
		}
		seen[x.Origin] = true
	}
	if explain && len(next) < n {
		others, err := restingRows(ctx, s, seen, n-len(next))
		if err != nil {
			return err
		}
		rows = append(rows, others...)
	}
	none := "no visits are due; --explain tells why"
	if explain {
		none = "no origins to visit"
	}
	return show(a, o, rows, none)
}

// restingRows returns at most most of the visited origins that are not in next, with the reasons, in the order
// of the catalog. It reads the schedule of each, so most should be small.
func restingRows(ctx context.Context, s *node.CatalogSource, next map[string]bool, most int) (rows []nextRow, err error) {
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
		why := reason(x)
		if why == policy.Eligible {
			why = "others of its host or its kind come first"
		}
		rows = append(rows, nextRow{explain: true, Why: "not now: " + why + lastFailure(x) + hoursNote(x.Hours) + expectation(x.Expected, time.Now()) + pace(x.HostGroup, x.HostGap) + missedItems(x.Overflows, x.Missed), NextVisit: types.NextVisit{
			Origin: x.Origin, Kind: x.Kind, URI: x.URI, Pool: x.Pool, Class: x.Class, Rate: x.Rate, Value: x.Value,
			Expected: x.Expected, HostGroup: x.HostGroup, HostGap: x.HostGap, Overflows: x.Overflows, Missed: x.Missed,
		}})
	}
	return rows, nil
}

// mostOfFailure is how many characters of an error an explanation has.
const mostOfFailure = 160

// lastFailure returns how an origin failed, such as "; 3 failures in a row, the last: the
// server answered 500"; nothing if its last visit did not fail.
func lastFailure(x types.Schedule) (text string) {
	if len(x.History) == 0 || x.History[0].Error == "" {
		return ""
	}
	if x.Failures > 1 {
		text = fmt.Sprintf("; %d failures in a row, the last: ", x.Failures)
	} else {
		text = "; its last visit failed: "
	}
	failure := []rune(wording.WithoutKind(x.History[0].Error))
	if len(failure) > mostOfFailure {
		failure = append(failure[:mostOfFailure], '…')
	}
	return text + string(failure)
}

// because returns why an origin is next: what its pool means, its rate, class and value, and when
// a change is expected. Requested visits and fixed intervals depend on none of these.
func because(x types.NextVisit) string {
	why := map[string]string{
		"first": "never visited", "known": "changes expected since the last visit", "quiet": "its lister dates no change, but may overlook one",
		"signal": "its lister dates a change", "due": "it changes regularly", "failing": "its last visits failed", policy.SaveNow: "a visit was requested", policy.Told: "a change was reported",
		"A": "no dates", "B1": "dated, never visited", "B2": "dated after its last visit", "B3": "last resort: no date is newer than its last visit",
		"all": "it waits longest", "fixed": "its interval is fixed, and over",
	}[x.Pool]
	switch x.Pool {
	case policy.SaveNow, policy.Told:
		return why
	case "fixed":
		return fmt.Sprintf("%s since %.2g days", why, x.Value)
	}
	why = fmt.Sprintf("%s: %.2g changes a day (class %d), value %.3g", why, x.Rate, x.Class, x.Value)
	if x.MaxLag > 0 {
		why += fmt.Sprintf("; not visited for %.3g days (max-lag)", float64(x.MaxLag)/86400)
	}
	return why + expectation(x.Expected, time.Now())
}

// missedItems tells how many items of a feed were probably replaced by newer ones between two visits, such as
// "; 12 items may have been missed in 3 visits"; nothing if there were none.
func missedItems(overflows, missed int) string {
	if overflows == 0 {
		return ""
	}
	return fmt.Sprintf("; %s may have been missed before %s", count(missed, "item"), count(overflows, "visit"))
}

// expectation returns when the next change is expected, in UTC, such as "; expected Tuesday
// 06:00 ± 2 h", and nothing if the origin does not change regularly. More than six days
// from now the date replaces the weekday.
func expectation(e *types.Expected, now time.Time) string {
	if e == nil {
		return ""
	}
	format := "Monday 15:04"
	if away := e.At.Sub(now).Abs(); away > 6*24*time.Hour {
		format = "2006-01-02 15:04"
	}
	within := fmt.Sprintf("%.0f min", float64(e.Within)/60)
	switch hours := float64(e.Within) / 3600; {
	case hours >= 48:
		within = fmt.Sprintf("%.0f d", hours/24)
	case hours >= 1:
		within = fmt.Sprintf("%.0f h", hours)
	}
	return "; expected " + e.At.UTC().Format(format) + " ± " + within
}

// pace returns how the host of an origin is visited, such as "; its host is visited one at a
// time, 10s after the end of the last visit (Crawl-delay)"; empty if the host has neither a group
// nor a gap.
func pace(group string, gap models.Seconds) (text string) {
	if group != "" {
		text = "; its host is in the host group " + group
	}
	if gap > 0 {
		text += fmt.Sprintf("; its host is visited one at a time, %s after the end of the last visit (Crawl-delay)", gap.Duration())
	}
	return text
}

// nextRow is an origin as a row: visited next, or not now.
type nextRow struct {
	types.NextVisit
	Why     string `json:"why,omitempty"` // with --explain
	explain bool
}

func (r nextRow) columns() []column {
	class, value := queued(r.Pool, r.Class, r.Value)
	return []column{
		{head: "id", cell: r.Origin}, {head: "kind", cell: string(r.Kind)}, {head: "pool", cell: r.Pool}, {head: "class", cell: class},
		{head: "value", cell: value}, {head: "uri", cell: r.URI, fit: cutStart}, {head: "why", cell: r.Why, fit: wrap},
	}
}
