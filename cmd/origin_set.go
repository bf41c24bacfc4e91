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
)

const hoursHelp = "hours in which visits may begin, such as 22:00-06:00 (UTC) or 22:00-06:00@Europe/Berlin; any takes them back"

// parseHours checks the flag --hours. The error is a usage error.
func parseHours(text string) (*models.Hours, error) {
	given := models.Hours(text)
	if _, err := models.ParseHours(given); err != nil {
		return nil, usagef("--%v", err)
	}
	return &given, nil
}

// newOriginSet is `leasehold origin set`.
func (a *app) newOriginSet() *cobra.Command {
	var priority int64
	var every time.Duration
	var hours string
	c := &cobra.Command{
		Use:   "set ORIGIN…",
		Short: "change the hours, the interval or the priority of origins",
		Long:  "Change the hours, the interval or the priority of origins. What no flag names\nstays. ORIGIN is an id, URL or path.",
		Args:  cobra.MinimumNArgs(1),
	}
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) (err error) {
		var change types.OriginChange
		if c.Flags().Changed("priority") {
			change.Priority = &priority
		}
		if c.Flags().Changed("every") {
			fixed := models.SecondsOf(every)
			if !models.ValidEvery(fixed) {
				return usagef("--every %s: %s", every, models.EveryRule)
			}
			change.Every = &fixed
		}
		if c.Flags().Changed("hours") {
			if change.Hours, err = parseHours(hours); err != nil {
				return err
			}
		}
		if change == (types.OriginChange{}) {
			return usagef("nothing to set: use --hours, --every or --priority")
		}
		for _, name := range args {
			if err := a.setOrigin(ctx, s, name, change); err != nil {
				return err
			}
		}
		return nil
	})
	c.Flags().StringVar(&hours, "hours", "", hoursHelp)
	c.Flags().DurationVar(&every, "every", 0, "fixed time between visits, such as 24h, in place of the policy; 0 is the policy again")
	c.Flags().Int64Var(&priority, "priority", 0, "priority of recordings without their own; higher is sooner")
	config.BindFlags(c.Flags(), visitKeys...)
	return c
}

// setOrigin changes one origin, and prints when it may be visited then.
func (a *app) setOrigin(ctx context.Context, s *node.CatalogSource, name string, change types.OriginChange) error {
	o, err := s.Origin(ctx, name)
	if err != nil {
		return err
	}
	if !o.Kind.Visited() && change.Visiting() != (models.Visiting{}) {
		return usagef("%s: origins of kind %s are not visited", o.URI, o.Kind)
	}
	if err := s.Change(ctx, o, change); err != nil {
		return fmt.Errorf("set %s: %w", o.URI, err)
	}
	now := "set"
	if o.Kind.Visited() {
		schedule, err := s.Schedule(ctx, o.ID)
		if err != nil {
			return err
		}
		now = reason(schedule) + hoursNote(schedule.Hours)
	}
	_, err = sayf(a.out, "%s %s %s: %s\n", o.ID, o.Kind, o.URI, now)
	return err
}

// hoursNote returns the hours of an origin, such as "; visited 22:00-06:00@UTC only"; empty if it has none.
func hoursNote(h models.Hours) string {
	if h == "" {
		return ""
	}
	return "; visited " + string(h) + " only"
}
