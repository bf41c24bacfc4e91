package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
)

// presentSlots are assumed if no coordinator runs: those of one manager.
const presentSlots = 16

// newVisitsCapacity is `leasehold visits capacity`.
func (a *app) newVisitsCapacity() *cobra.Command {
	var slots int
	c := &cobra.Command{
		Use:   "capacity",
		Short: "print how often origins can be visited with the slots there are",
		Long: `Print how many visits a day all managers can make, how often each kind of origin
is visited if these visits are divided in the best way, and which share of the
origins can be up to date. It warns about pools of waiting origins that keep
growing. The estimate uses the visit times and change rates seen so far.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	c.Flags().IntVar(&slots, "slots", 0, "number of slots (default: all slots of the running managers, or 16 without a coordinator)")
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		if c.Flags().Changed("slots") && (slots < 1 || slots > 1<<20) {
			return usagef("--slots must be from 1 to %[2]d; got %[1]d; without --slots, the running managers' slots count", slots, 1<<20)
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
	if err := showOne(a, o, r); err != nil || o.structured() {
		return err
	}
	rows := rowsOf(r.Kinds, func(k types.KindCapacity) kindCapacityRow { return kindCapacityRow{k} })
	if len(rows) > 0 {
		fmt.Fprintln(a.out)
		if err := printTable(a, rows); err != nil {
			return err
		}
	}
	for _, w := range r.Warnings {
		if _, err := sayf(a.out, "warning: %s\n", w); err != nil {
			return err
		}
	}
	return nil
}

// capacityRow is what the slots can hold, as a row.
type capacityRow struct{ types.Capacity }

func (r capacityRow) columns() []column {
	return []column{
		{head: "slots", cell: fmt.Sprint(r.Slots)}, {head: "seconds per visit", cell: fmt.Sprintf("%.2f", r.VisitSeconds)},
		{head: "visits per day", cell: fmt.Sprintf("%.0f", r.VisitsPerDay)}, {head: "at fixed intervals", cell: fmt.Sprintf("%.0f", r.Fixed)},
		{head: "up to date at best", cell: fmt.Sprintf("%.1f %%", 100*r.Fresh)},
	}
}

// kindCapacityRow is the part of one kind of origin, as a row.
type kindCapacityRow struct{ types.KindCapacity }

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
		{head: "changes per day", cell: fmt.Sprintf("%.3g", r.Changes)}, {head: "visits per day", cell: fmt.Sprintf("%.3g", r.Visits)}, {head: "visited every", cell: every},
	}
}
