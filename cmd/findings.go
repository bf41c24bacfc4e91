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
)

// findingsOptions are the flags of `leasehold findings`.
type findingsOptions struct {
	out      *output
	problems bool
	format   string
	episode  string
}

// newFindings is `leasehold findings`.
func (a *app) newFindings() *cobra.Command {
	var o findingsOptions
	c := &cobra.Command{
		Use:   "findings",
		Short: "print where each clip is played, or what could not be done",
		Long: `Print where each clip is played, or what could not be done: as the running
coordinator knows it, or else as the data folder does.`,
		Args: cobra.NoArgs,
	}
	o.out = bindOutput(c)
	c.Flags().BoolVar(&o.problems, "problems", false, "print what could not be done instead, and why")
	c.Flags().StringVar(&o.format, "format", formatTable,
		"what players and editors read: labels for Audacity; of one episode, chapters (Podcasting 2.0 JSON) or webvtt")
	c.Flags().StringVar(&o.episode, "episode", "", "only this episode, by its title or id")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	config.BindFlags(c.Flags(), catalogKeys...)
	run := a.withCatalog(func(ctx context.Context, s *node.CatalogSource, _ []string) error {
		if o.problems {
			return a.showProblems(ctx, s.Catalog, o)
		}
		return a.showFindings(ctx, s.Catalog, o)
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return run(c, args)
	}
	return c
}

func (o findingsOptions) check() error {
	switch {
	case !slices.Contains(formats, o.format):
		return usagef("--format must be %s; got %q", orList(formats), o.format)
	case o.format == formatTable:
		return nil
	case o.out.said != "" || o.problems:
		return usagef("--format %s goes neither with -o, --json nor with --problems", o.format)
	case o.format != formatLabels && o.episode == "":
		return usagef("--format %s is of one episode: say which, with --episode TITLE or --episode ID", o.format)
	}
	return nil
}

func (a *app) showFindings(ctx context.Context, from catalog.Catalog, o findingsOptions) error {
	found, err := from.Findings(ctx)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f catalog.Finding) bool { return !o.wants(f.EpisodeID, f.EpisodeTitle) })
	switch o.format {
	case formatTable:
		return show(a, o.out, findingRows(found), "no findings")
	case formatLabels:
		return a.printLabels(found)
	}
	e, err := o.theEpisode(ctx, from)
	if err != nil {
		return err
	}
	cues := cuesOf(e, found)
	if o.format == formatWebVTT {
		return a.printWebVTT(cues)
	}
	return a.printChapters(e, cues)
}

// theEpisode is the one that --episode names: an id names one, a title perhaps
// several.
func (o findingsOptions) theEpisode(ctx context.Context, from catalog.Catalog) (models.Episode, error) {
	all, err := from.Episodes(ctx)
	if err != nil {
		return models.Episode{}, err
	}
	if i := slices.IndexFunc(all, func(e models.Episode) bool { return e.ID == o.episode }); i >= 0 {
		return all[i], nil
	}
	named := slices.DeleteFunc(all, func(e models.Episode) bool { return e.Title != o.episode })
	switch len(named) {
	case 0:
		return models.Episode{}, fmt.Errorf("episode %s: %w", o.episode, fault.ErrNotFound)
	case 1:
		return named[0], nil
	}
	var ids []string
	for _, e := range named {
		ids = append(ids, e.ID)
	}
	return models.Episode{}, usagef("%d episodes have the title %s; say --episode %s", len(named), o.episode, orList(ids))
}

func (a *app) showProblems(ctx context.Context, from catalog.Catalog, o findingsOptions) error {
	problems, err := from.Problems(ctx)
	if err != nil {
		return err
	}
	problems = slices.DeleteFunc(problems, func(p catalog.Problem) bool { return !o.wants(p.EpisodeID, p.EpisodeTitle) })
	return show(a, o.out, problemRows(problems), "no problems")
}

// wants reports whether an episode is to be shown.
func (o findingsOptions) wants(id, title string) bool {
	return o.episode == "" || o.episode == id || o.episode == title
}

// findingRow is a finding as it is printed (docs/json.md).
type findingRow struct{ catalog.Finding }

func (r findingRow) columns() []column {
	clip := r.ClipTitle
	if r.WithinTitle != "" {
		clip += " (within " + r.WithinTitle + ")"
	}
	return []column{
		{head: "episode", cell: r.EpisodeTitle}, {head: "clip", cell: clip},
		{head: "time", cell: r.Offset.Clock()}, {head: "score", cell: fmt.Sprintf("%.3f", r.Score)},
	}
}

func findingRows(found []catalog.Finding) []findingRow {
	rows := make([]findingRow, len(found))
	for i, f := range found {
		rows[i] = findingRow{f}
	}
	return rows
}

// problemRow is a problem as it is printed (docs/json.md).
type problemRow struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
	Origin  string `json:"origin,omitempty"`
	Item    string `json:"item,omitempty"`
	Episode string `json:"episode,omitempty"`
	Clip    string `json:"clip,omitempty"`
}

func (r problemRow) columns() []column {
	return []column{{head: "problem with", cell: r.Subject}, {head: "reason", cell: r.Reason}}
}

func problemRows(problems []catalog.Problem) []problemRow {
	rows := make([]problemRow, len(problems))
	for i, p := range problems {
		rows[i] = problemRow{
			Subject: subject(p), Reason: p.Reason, At: p.At.Format(timeFormat),
			Origin: p.OriginURI, Item: p.Item, Episode: p.EpisodeTitle, Clip: p.ClipTitle,
		}
	}
	return rows
}
