package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// recordings are the methods of the catalog for one sort of recording.
type recordings[T row] struct {
	noun    string // episode or clip
	about   func(id string) catalog.About
	command string // episode or clips
	list    func(context.Context, catalog.Catalog) ([]T, error)
	set     func(ctx context.Context, from catalog.Catalog, id string, priority *int64) (T, error) // nil: the origin's priority
	of      func(T) models.Recording
}

var episodeRecordings = recordings[episodeRow]{
	noun: "episode", command: "episode",
	about: func(id string) catalog.About { return catalog.About{Episode: id} },
	list: func(ctx context.Context, from catalog.Catalog) ([]episodeRow, error) {
		all, err := from.Episodes(ctx)
		return rowsOf(all, func(e models.Episode) episodeRow { return episodeRow{e} }), err
	},
	set: func(ctx context.Context, from catalog.Catalog, id string, priority *int64) (episodeRow, error) {
		e, err := from.SetEpisodePriority(ctx, id, priority)
		return episodeRow{e}, err
	},
	of: func(r episodeRow) models.Recording { return r.Recording },
}

var clipRecordings = recordings[clipRow]{
	noun: "clip", command: "clips",
	about: func(id string) catalog.About { return catalog.About{Clip: id} },
	list: func(ctx context.Context, from catalog.Catalog) ([]clipRow, error) {
		all, err := from.Clips(ctx)
		return rowsOf(all, func(c models.Clip) clipRow { return clipRow{c} }), err
	},
	set: func(ctx context.Context, from catalog.Catalog, id string, priority *int64) (clipRow, error) {
		c, err := from.SetClipPriority(ctx, id, priority)
		return clipRow{c}, err
	},
	of: func(r clipRow) models.Recording { return r.Recording },
}

// newEpisode is `leasehold episode`.
func (a *app) newEpisode() *cobra.Command {
	c := &cobra.Command{
		Use:   episodeRecordings.command,
		Short: "list and retry episodes, and set which are searched first",
	}
	addRecordings(a, c, episodeRecordings)
	return c
}

// addRecordings adds the commands that list, show and set one sort of recording.
func addRecordings[T row](a *app, c *cobra.Command, r recordings[T]) {
	c.AddCommand(newRecordingList(a, r), newRecordingShow(a, r), newRecordingSet(a, r), newRecordingRetry(a, r))
}

// newRecordingList is `leasehold episode list` or `leasehold clips list`.
func newRecordingList[T row](a *app, r recordings[T]) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: fmt.Sprintf("print all %ss", r.noun),
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		rows, err := r.list(ctx, s.Catalog)
		if err != nil {
			return err
		}
		return show(a, o, rows, "no "+r.noun+"s")
	})
	config.BindFlags(c.Flags(), catalogKeys...)
	return c
}

// newRecordingShow is `leasehold episode show` or `leasehold clips show`.
func newRecordingShow[T row](a *app, r recordings[T]) *cobra.Command {
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "print one " + r.noun,
		Long:  fmt.Sprintf("Print one %s. NAME is its id, its title, or its name at its origin.", r.noun),
		Args:  cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	c.RunE = a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		rows, err := r.list(ctx, s.Catalog)
		if err != nil {
			return err
		}
		found, err := r.find(rows, args[0])
		if err != nil {
			return err
		}
		return showOne(a, o, found)
	})
	config.BindFlags(c.Flags(), catalogKeys...)
	return c
}

// newRecordingSet is `leasehold episode set` or `leasehold clips set`. All names are looked up
// before the first priority is set, so that a wrong one sets none.
func newRecordingSet[T row](a *app, r recordings[T]) *cobra.Command {
	var priority int64
	var reset bool
	c := &cobra.Command{
		Use:   "set NAME…",
		Short: fmt.Sprintf("set the priority of %ss", r.noun),
		Long: fmt.Sprintf(`Set the priority of %[1]ss. NAME is an id, a title, or the name at the origin.
Higher priorities are searched sooner. The priority applies from the next task
on, and visits do not change it; --reset returns to the origin's priority.`, r.noun),
		Args: cobra.MinimumNArgs(1),
	}
	c.Flags().Int64Var(&priority, "priority", 0, "the priority; higher is sooner")
	c.Flags().BoolVar(&reset, "reset", false, "return to the origin's priority")
	config.BindFlags(c.Flags(), catalogKeys...)
	run := a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		rows, err := r.list(ctx, s.Catalog)
		if err != nil {
			return err
		}
		wanted := &priority
		if reset {
			wanted = nil
		}
		var ids []string
		for _, name := range args {
			found, err := r.find(rows, name)
			if err != nil {
				return err
			}
			ids = append(ids, r.of(found).ID)
		}
		for _, id := range ids {
			changed, err := r.set(ctx, s.Catalog, id, wanted)
			if err != nil {
				return err
			}
			if _, err := sayf(a.out, "%s %s: priority %d\n", id, wording.OneLine(r.of(changed).Title), r.of(changed).Priority); err != nil {
				return err
			}
		}
		return nil
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("priority") == reset { // both or none
			return usagef("%s needs either --priority or --reset", nameOf(c))
		}
		return run(c, args)
	}
	return c
}

// newRecordingRetry is `leasehold episode retry` or `leasehold clips retry`. All names are looked up
// before the first recording is tried again.
func newRecordingRetry[T row](a *app, r recordings[T]) *cobra.Command {
	var problems bool
	c := &cobra.Command{
		Use:   "retry [NAME…]",
		Short: fmt.Sprintf("try %ss with a problem again now", r.noun),
		Long: fmt.Sprintf(`Try %[1]ss with a problem again now: those that could not be fetched, which
otherwise wait for their next attempt, and those whose content or search failed.
NAME is an id, a title, or the name at the origin. --problems selects all
recordings with a problem.`, r.noun),
	}
	c.Flags().BoolVar(&problems, "problems", false, "all recordings with a problem, instead of NAME")
	config.BindFlags(c.Flags(), catalogKeys...)
	run := a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		wanted := []catalog.About{{}}
		if !problems {
			rows, err := r.list(ctx, s.Catalog)
			if err != nil {
				return err
			}
			wanted = nil
			for _, name := range args {
				found, err := r.find(rows, name)
				if err != nil {
					return err
				}
				wanted = append(wanted, r.about(r.of(found).ID))
			}
		}
		total := 0
		for _, about := range wanted {
			n, err := s.Catalog.Retry(ctx, about, true)
			if err != nil {
				return err
			}
			total += n
		}
		_, err := sayf(a.out, "%s to try again\n", count(total, "recording"))
		return err
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if problems == (len(args) > 0) { // both or none
			return usagef("%s needs either NAME or --problems", nameOf(c))
		}
		return run(c, args)
	}
	return c
}

// find returns the recording with that id or, if it is the only one, with that title or name. It
// returns a usage error if there are several, and fault.ErrNotFound if there is none.
func (r recordings[T]) find(rows []T, wanted string) (found T, err error) {
	if i := slices.IndexFunc(rows, func(x T) bool { return r.of(x).ID == wanted }); i >= 0 {
		return rows[i], nil
	}
	var ids []string
	for _, x := range rows {
		if one := r.of(x); one.Title == wanted || one.Name == wanted {
			ids, found = append(ids, one.ID), x
		}
	}
	switch len(ids) {
	case 0:
		return found, fmt.Errorf("%s %s: %w; see leasehold %s list", r.noun, wanted, fault.ErrNotFound, r.command)
	case 1:
		return found, nil
	}
	return found, usagef("%d %ss have the title or name %q; choose one by its id: %s", len(ids), r.noun, wanted, wording.Or(ids...))
}

// episodeRow is an episode as a row.
type episodeRow struct{ models.Episode }

func (r episodeRow) columns() []column {
	columns := recordingColumns(r.Recording)
	if !r.Aired.IsZero() {
		columns = append(columns, column{head: "aired", cell: when(r.Aired), detail: true})
	}
	return columns
}

// clipRow is a clip as a row.
type clipRow struct{ models.Clip }

func (r clipRow) columns() []column { return recordingColumns(r.Recording) }

// recordingColumns returns the columns that episodes and clips have in common. A priority that an
// operator set is marked, because visits do not change it.
func recordingColumns(r models.Recording) []column {
	priority := fmt.Sprint(r.Priority)
	if r.PrioritySet {
		priority += " (set)"
	}
	return []column{
		{head: "id", cell: r.ID}, {head: "priority", cell: priority}, {head: "curated", cell: when(r.FirstCurated)},
		{head: "title", cell: r.Title, fit: cut},
		{head: "name", cell: r.Name, detail: true}, {head: "origin", cell: r.Origin, detail: true},
		{head: "uri", cell: r.Media.URI, detail: true}, {head: "type", cell: r.Media.Type, detail: true},
		{head: "version", cell: r.Media.Version, detail: true}, {head: "hash", cell: r.Media.Hash, detail: true},
		{head: "last listed", cell: when(r.LastCurated), detail: true},
	}
}
