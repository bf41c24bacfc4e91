package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/process/wording"
)

// timeFormat is the format of times in JSON and tables.
const timeFormat = time.RFC3339

// newOrigin is `leasehold origin`.
func (a *app) newOrigin() *cobra.Command {
	c := &cobra.Command{
		Use:   "origin",
		Short: "add and manage origins: feeds, folders, repositories, listers",
	}
	c.AddCommand(a.newOriginAdd(), a.newOriginSet(), a.newOriginList(), a.newOriginShow(), a.newOriginRemove(),
		a.newSteer(types.Enable, "enable disabled origins, and reset their failures"),
		a.newSteer(types.Disable, "disable visits of origins until they are enabled"),
		a.newSteer(types.SaveNow, "visit origins now, ahead of the queue"))
	return c
}

// newOriginAdd is `leasehold origin add`.
func (a *app) newOriginAdd() *cobra.Command {
	var kind string
	var priority int64
	var every time.Duration
	var hours string
	var branches, tags []string
	c := &cobra.Command{
		Use:   "add PATH…",
		Short: "add origins and visit them",
		Long: `Add the origins at each PATH and visit them. PATH is a folder, a file or a URL.
If a coordinator runs, a manager makes the visits, and a folder must be on the
coordinator's machine.`,
		Args: cobra.MinimumNArgs(1),
	}
	const makeFolder = true
	c.RunE = a.onCatalog(makeFolder, func(ctx context.Context, s *node.CatalogSource, args []string) error {
		// All paths are detected before the first origin is added, so that a wrong one adds none.
		origins, err := node.DetectOrigins(args, kind)
		if err != nil {
			return err
		}
		keepPriority := !c.Flags().Changed("priority")
		if !keepPriority {
			for i := range origins {
				origins[i].Priority = priority
			}
		}
		if c.Flags().Changed("every") {
			fixed := models.SecondsOf(every)
			if !models.ValidEvery(fixed) {
				return usagef("--every %s: %s", every, models.EveryRule)
			}
			for i := range origins {
				origins[i].Every = &fixed
			}
		}
		if c.Flags().Changed("hours") {
			given, err := parseHours(hours)
			if err != nil {
				return err
			}
			for i := range origins {
				origins[i].Hours = given
			}
		}
		if err := setRefs(origins, branches, tags); err != nil {
			return err
		}
		if s.Dir == nil {
			err = a.addToCoordinator(ctx, s, origins, keepPriority)
		} else {
			err = a.addToFolder(ctx, s.Dir, origins, keepPriority)
		}
		return errors.Join(err, a.tellDetected(a.out, origins, args, kind))
	})
	c.Flags().Int64Var(&priority, "priority", 0, "priority of recordings without their own; higher is sooner (default: from the manifest, else unchanged, else 0)")
	c.Flags().DurationVar(&every, "every", 0, "fixed time between visits, such as 24h, in place of the policy; 0 is the policy again (default: from the manifest, else unchanged)")
	c.Flags().StringVar(&hours, "hours", "", hoursHelp+" (default: from the manifest, else unchanged)")
	c.Flags().StringSliceVar(&branches, "branch", nil, "branch to index: a name, a pattern such as release-*, or HEAD; may be repeated; for a lister, of the repositories that it lists (default: the manager's setting, else unchanged)")
	c.Flags().StringSliceVar(&tags, "tag", nil, "tag to index beside the branches: a name, or a pattern such as v*; may be repeated; the newest, at most 64 with the branches; for a lister, of the repositories that it lists (default: the manager's setting, else unchanged)")
	c.Flags().StringVar(&kind, "kind", "", kindHelp())
	config.BindFlags(c.Flags(), addKeys...)
	return c
}

// setRefs selects the branches and the tags of origins, unless there are none. The error is a usage
// error: patterns that are not valid, or an origin whose kind has no branches.
func setRefs(origins []models.Origin, branches, tags []string) error {
	for i, o := range origins {
		if len(branches) > 0 {
			origins[i].Branches = branches
		}
		if len(tags) > 0 {
			origins[i].Tags = tags
		}
		given := models.Origin{Kind: o.Kind, Branches: branches, Tags: tags}
		if problem := given.CheckRefs(); problem != "" {
			return usagef("%s: %s", o.URI, problem)
		}
	}
	return nil
}

// addToFolder adds origins to a data folder that no coordinator has, and visits them. A failed visit
// does not end it; the errors of all visits are returned together. With keepPriority, an origin
// that exists keeps its priority, unless the new one has one of its own.
func (a *app) addToFolder(ctx context.Context, d *node.DataDir, origins []models.Origin, keepPriority bool) error {
	if err := d.AddOrigins(ctx, origins, keepPriority); err != nil {
		return err
	}
	var failed []error
	visited := d.VisitAll(ctx, origins, func(v node.AddVisit) {
		o, found := v.Origin, count(v.Items, v.Origin.Kind.Info().Item)
		if !v.Opens.IsZero() {
			found = "not visited, because its hours begin at " + when(v.Opens) + "; leasehold run visits it then"
		}
		if v.Skipped {
			found = "not visited, because a visit to another origin of its host failed; leasehold run visits it"
		}
		if v.Err == nil {
			_, v.Err = sayf(a.out, "added %s %s %s: %s%s\n", o.ID, o.Kind, o.URI, found, refsNow(o))
		}
		failed = append(failed, v.Err)
	})
	return errors.Join(append(failed, visited)...)
}

// addToCoordinator adds origins to a running coordinator. With keepPriority, an origin that exists
// keeps its priority, unless the new one has one of its own. The first error, of the coordinator or
// of printing, ends it; the origins before stay added.
func (a *app) addToCoordinator(ctx context.Context, s *node.CatalogSource, origins []models.Origin, keepPriority bool) error {
	for _, o := range origins {
		added, isNew, err := s.API.AddOrigin(ctx, o, keepPriority && o.Priority == 0)
		if err != nil {
			return fmt.Errorf("add %s: %w", o.URI, err)
		}
		verb := "added"
		if !isNew {
			verb = "already there:"
		}
		if _, err := sayf(a.out, "%s %s %s %s%s; a manager will visit it\n", verb, added.ID, added.Kind, added.URI, refsNow(o)); err != nil {
			return err
		}
	}
	return nil
}

// refsNow tells which branches and tags the user has selected for o, because they replace those that
// a known origin had; "" if none were selected.
func refsNow(o models.Origin) (text string) {
	if len(o.Branches) > 0 {
		text = "; its branches are now " + strings.Join(o.Branches, ", ")
	}
	if len(o.Tags) > 0 {
		text += "; its tags are now " + strings.Join(o.Tags, ", ")
	}
	return text
}

// kindHelp describes the flag --kind.
func kindHelp() string {
	var kinds []string
	for _, k := range models.VisitedKinds() {
		kinds = append(kinds, string(k))
	}
	return "kind of each PATH (default: detected): " + strings.Join(kinds, ", ")
}

// originRow is an origin as a row.
type originRow struct{ models.Origin }

func (r originRow) columns() []column {
	return []column{
		{head: "id", cell: r.ID},
		{head: "kind", cell: string(r.Kind)},
		{head: "priority", cell: fmt.Sprint(r.Priority)},
		{head: "last visit", cell: when(r.LastVisit)},
		{head: "outcome", cell: string(r.LastOutcome)},
		{head: "disabled by", cell: r.Disabled, rare: true, fit: cut},
		{head: "uri", cell: r.URI, fit: cutStart},
		{head: "branches", cell: strings.Join(r.Branches, ","), detail: true},
		{head: "tags", cell: strings.Join(r.Tags, ","), detail: true},
		{head: "added", cell: when(r.AddedAt), detail: true},
		{head: "moves to", cell: r.MovesTo, detail: true},
		{head: "moved from", cell: r.MovedFrom, detail: true},
		{head: "error", cell: wording.WithoutKind(r.LastError), detail: true},
	}
}

// newOriginList is `leasehold origin list`.
func (a *app) newOriginList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "print all origins",
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		origins, err := s.Origins(ctx)
		if err != nil {
			return err
		}
		return show(a, o, rowsOf(origins, func(o models.Origin) originRow { return originRow{o} }), "no origins")
	})
	config.BindFlags(c.Flags(), catalogKeys...)
	return c
}

// newOriginShow is `leasehold origin show`.
func (a *app) newOriginShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ORIGIN",
		Short: "print one origin with its visits and schedule",
		Long:  "Print one origin with its visits and schedule. ORIGIN is its id, URL or path.",
		Args:  cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		origin, err := s.Origin(ctx, args[0])
		if err != nil {
			return err
		}
		shown := shownOrigin{Origin: origin}
		if origin.Kind.Visited() {
			schedule, err := s.Schedule(ctx, origin.ID)
			if err != nil {
				return err
			}
			shown.Schedule = &schedule
		}
		return a.showOrigin(o, shown)
	})
	config.BindFlags(c.Flags(), visitKeys...)
	return c
}

// newOriginRemove is `leasehold origin remove`.
func (a *app) newOriginRemove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove ORIGIN…",
		Short: "remove origins with their recordings and findings",
		Args:  cobra.MinimumNArgs(1),
		RunE: a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
			for _, name := range args {
				o, err := s.Origin(ctx, name)
				if err != nil {
					return err
				}
				if err := s.RemoveOrigin(ctx, o.ID); err != nil {
					return err
				}
				if _, err := sayf(a.out, "removed %s %s %s\n", o.ID, o.Kind, o.URI); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	config.BindFlags(c.Flags(), codeKeys...)
	return c
}

// when formats a time; the zero time is never.
func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(timeFormat)
}

// whenSet formats a time that a thing need not have: a task without an end of its validity does not
// expire. It returns "" for the zero time, and a table then leaves the line out.
func whenSet(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return when(t)
}
