package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/visit/policy"
)

// shownOrigin is an origin with its schedule.
type shownOrigin struct {
	models.Origin
	Schedule *types.Schedule `json:"schedule,omitempty"` // nil if origins of its kind are not visited
}

func (r shownOrigin) columns() []column {
	columns := originRow{r.Origin}.columns()
	if s := r.Schedule; s != nil {
		detail := func(head, cell string) { columns = append(columns, column{head: head, cell: cell, detail: true}) }
		detail("now", reason(*s))
		detail("changes", fmt.Sprintf("about %.3g a day", s.Rate))
		waits := fmt.Sprintf("%s, group %s", s.Pool, s.Group)
		if class, value := queued(s.Pool, s.Class, s.Value); class != "-" {
			waits = fmt.Sprintf("%s, class %s, value %s, group %s", s.Pool, class, value, s.Group)
		}
		detail("waits in", waits)
		if s.Target != nil {
			detail("target", fmt.Sprintf("%d (index %d)", *s.Target, s.Index))
		}
		if s.Every > 0 {
			detail("visited every", time.Duration(float64(s.Every)*float64(time.Second)).String())
		}
		if s.Hours != "" {
			detail("hours", string(s.Hours))
		}
		if s.Hub != nil {
			detail("hub", hubState(*s.Hub, time.Now()))
		}
		if s.Skip != nil {
			detail("feed skips", skipped(*s.Skip))
		}
		if e := s.Expected; e != nil {
			detail("next change", strings.TrimPrefix(expectation(e, time.Now()), "; "))
		}
		if text := pace(s.HostGroup, s.HostGap); text != "" {
			detail("host", strings.TrimPrefix(text, "; "))
		}
		if text := missedItems(s.Overflows, s.Missed); text != "" {
			detail("lost", strings.TrimPrefix(text, "; "))
		}
		detail("failures", fmt.Sprint(s.Failures))
		if s.Lister != "" {
			detail("listed by", s.Lister)
		}
	}
	return columns
}

// hubState tells whether a hub reports the changes of an origin, and if not, why.
func hubState(h types.Hub, now time.Time) string {
	state := "not subscribed; a coordinator with public-url subscribes"
	switch {
	case h.Until.After(now):
		state = "reports changes until " + when(h.Until) + ", renewed before"
	case h.Asked > 0:
		state = fmt.Sprintf("does not confirm the subscription, %s so far", count(h.Asked, "request"))
	}
	if h.Error != "" {
		state += ": " + h.Error
	}
	return h.URL + " " + state
}

// skipped lists the hours and days at which a feed asks not to be read.
func skipped(s models.Skip) string {
	var parts []string
	for _, h := range s.Hours {
		parts = append(parts, fmt.Sprintf("%02d:00", h))
	}
	return strings.Join(append(parts, s.Days...), ", ") + " (UTC)"
}

// queued formats the class and the value of an origin; both are - if it does not wait in a queue
// of the policy.
func queued(pool string, class int, value float64) (shownClass, shownValue string) {
	switch pool {
	case policy.SaveNow, policy.Resting, policy.InFlight, policy.Disabled:
		return "-", "-"
	}
	return fmt.Sprint(class), fmt.Sprintf("%.3g", value)
}

// reason returns why an origin is not visited now. A visit in progress comes first, then one that
// was requested and what it waits for, then why the origin is disabled, then why it rests and until when.
func reason(s types.Schedule) string {
	switch {
	case s.Visit != "":
		return s.Visit + " is waiting for a manager or in progress"
	case s.Asked && !s.Until.IsZero():
		return "a visit was requested; " + s.Why + " until " + when(s.Until)
	case s.Asked && s.Why != policy.Eligible: // until the visit of another origin of its host ends
		return "a visit was requested; " + s.Why
	case s.Asked:
		return "a visit was requested"
	case s.Disabled == string(policy.ByFailures):
		return fmt.Sprintf("disabled after %d failures, until its lister lists it again or somebody enables it", s.Failures)
	case s.Disabled == string(policy.ByGone):
		return "disabled because its server reports that it is gone for good, until its lister reports a change or somebody enables it"
	case s.Disabled == string(policy.ByLister):
		return "disabled because its lister no longer lists it"
	case s.Disabled == string(policy.ByOperator):
		return "disabled by the operator"
	case !s.Until.IsZero():
		return restReason(s) + " until " + when(s.Until)
	}
	return s.Why
}

// restReason tells why an origin rests.
func restReason(s types.Schedule) string { return strings.TrimPrefix(s.Why, "absolute ") }

// showOrigin prints an origin; as a table, its past visits follow.
func (a *app) showOrigin(o *output, r shownOrigin) error {
	if err := showOne(a, o, r); err != nil || o.structured() || r.Schedule == nil || len(r.Schedule.History) == 0 {
		return err
	}
	fmt.Fprintln(a.out)
	return printTable(a, rowsOf(r.Schedule.History, func(p types.PastVisit) pastRow { return pastRow{p} }))
}

type pastRow struct{ types.PastVisit }

func (r pastRow) columns() []column {
	return []column{
		{head: "visited", cell: when(r.At)}, {head: "outcome", cell: string(r.Status)}, {head: "changes", cell: fmt.Sprint(r.Changes)},
		{head: "seconds", cell: fmt.Sprintf("%.2f", r.Took)}, {head: "bytes", cell: fmt.Sprint(r.Size)}, {head: "error", cell: wording.WithoutKind(r.Error), fit: wrap},
	}
}

// newSteer is `leasehold origin enable`, `disable` or `save-now`.
func (a *app) newSteer(what, short string) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   what + " ORIGIN…",
		Short: short,
		Args:  cobra.MinimumNArgs(1),
		RunE: a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
			action := what
			if force {
				action = types.ForceNow
			}
			for _, name := range args {
				o, err := s.Origin(ctx, name)
				if err != nil {
					return err
				}
				schedule, err := s.Steer(ctx, o, action)
				if err != nil {
					return fmt.Errorf("%s %s: %w", what, o.URI, err)
				}
				if _, err := sayf(a.out, "%s %s %s: %s\n", o.ID, o.Kind, o.URI, reason(schedule)); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	if what == types.SaveNow {
		c.Flags().BoolVar(&force, "force", false, "visit even if the origin or its host asked to wait (Retry-After), the host could not be reached, or it is outside of its hours")
	}
	config.BindFlags(c.Flags(), visitKeys...)
	return c
}
