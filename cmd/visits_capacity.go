package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/apitypes"
	"leasehold/shared/config"
)

// presentSlots are assumed if no coordinator runs: those of one manager.
const presentSlots = 16

// newVisitsCapacity is `leasehold visits capacity`.
func (a *app) newVisitsCapacity() *cobra.Command {
	var slots int
	c := &cobra.Command{
		Use:   "capacity",
		Short: "print how often origins can be visited with the present slots",
		Long: `Print how many visits a day the slots of all managers can hold, how often the
origins of each kind are visited if these visits are divided best, and which
share of the origins can be fresh. Warn if origins wait in a pool that grows
without end. Durations of visits and rates of change are those seen so far.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	c.Flags().IntVar(&slots, "slots", 0, "number of slots (default: those of the managers that run, or 16 without a coordinator)")
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		if c.Flags().Changed("slots") && (slots < 1 || slots > 1<<20) {
			return usagef("--slots %d: want 1 to %d; without it, the slots of the managers that run count", slots, 1<<20)
		}
		found, err := s.Capacity(ctx, slots, presentSlots)
		if err != nil {
			return err
		}
		return a.showCapacity(o, capacityRow{found})
	})
	config.BindFlags(c.Flags(), visitKeys...)
	return c
}

// showCapacity prints what the slots can hold; as a table, the kinds of origins and the warnings
// follow.
func (a *app) showCapacity(o *output, r capacityRow) error {
	if err := showOne(a, o, r); err != nil || o.form != asTable {
		return err
	}
	rows := rowsOf(r.Kinds, func(k apitypes.KindCapacity) kindCapacityRow { return kindCapacityRow{k} })
	if len(rows) > 0 {
		fmt.Fprintln(a.out)
		if err := printTable(a, rows); err != nil {
			return err
		}
	}
	for _, w := range r.Warnings {
		if _, err := fmt.Fprintln(a.out, "warning:", w); err != nil {
			return err
		}
	}
	return nil
}

// capacityRow is what the slots can hold, as a row.
type capacityRow struct{ apitypes.Capacity }

func (r capacityRow) columns() []column {
	return []column{
		{head: "slots", cell: fmt.Sprint(r.Slots)}, {head: "seconds a visit", cell: fmt.Sprintf("%.2f", r.VisitSeconds)},
		{head: "visits a day", cell: fmt.Sprintf("%.0f", r.VisitsPerDay)}, {head: "of fixed intervals", cell: fmt.Sprintf("%.0f", r.Fixed)},
		{head: "fresh at best", cell: fmt.Sprintf("%.1f %%", 100*r.Fresh)},
	}
}

// kindCapacityRow is the part of one kind of origin, as a row.
type kindCapacityRow struct{ apitypes.KindCapacity }

func (r kindCapacityRow) columns() []column {
	every := "never"
	if r.Interval > 0 {
		length := time.Duration(min(r.Interval, 36500) * float64(24*time.Hour))
		every = length.Round(time.Second).String()
		if length > 48*time.Hour {
			every = fmt.Sprintf("%.1f days", r.Interval)
		}
	}
	return []column{
		{head: "kind", cell: string(r.Kind)}, {head: "origins", cell: fmt.Sprintf("%.0f", r.Origins)},
		{head: "changes a day", cell: fmt.Sprintf("%.3g", r.Changes)}, {head: "visits a day", cell: fmt.Sprintf("%.3g", r.Visits)}, {head: "visited every", cell: every},
	}
}
