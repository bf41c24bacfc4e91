package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/export"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// The formats of `leasehold findings`.
const (
	formatTable    = "table"
	formatLabels   = "labels"   // of Audacity: start, end, text, separated by tabs
	formatChapters = "chapters" // of Podcasting 2.0: JSON, version 1.2.0
	formatWebVTT   = "webvtt"   // cues, as browsers and players show them
)

var formats = []string{formatTable, formatLabels, formatChapters, formatWebVTT}

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
		Short: "print where clips are played, or what went wrong",
		Long: `Print where each clip is played or, with --problems, what went wrong. It asks
the running coordinator or, if none answers, reads the data folder.`,
		Args: cobra.NoArgs,
	}
	o.out = bindOutput(c)
	c.Flags().BoolVar(&o.problems, "problems", false, "print what went wrong, and why, instead")
	c.Flags().StringVar(&o.format, "format", formatTable,
		"format for editors and players: labels (Audacity) or, for one episode, chapters (Podcasting 2.0 JSON) or webvtt")
	c.Flags().StringVar(&o.episode, "episode", "", "print only this episode, named by its title or id")
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

// check returns a usage error if --format is invalid or cannot be combined with the other flags.
func (o findingsOptions) check() error {
	switch {
	case !slices.Contains(formats, o.format):
		return usagef("--format must be %s; got %q", wording.Or(formats...), o.format)
	case o.format == formatTable:
		return nil
	case o.out.flag != "" || o.problems:
		return usagef("--format %s cannot be combined with -o, --json or --problems", o.format)
	case o.format != formatLabels && o.episode == "":
		return usagef("--format %s needs one episode: add --episode TITLE or --episode ID", o.format)
	}
	return nil
}

// showFindings prints the findings, of all episodes or of the one that --episode names, in the format of
// --format. An episode that the catalog does not have is an error, because "no findings" would hide that its
// name is misspelt.
func (a *app) showFindings(ctx context.Context, from catalog.Catalog, o findingsOptions) error {
	found, err := from.Findings(ctx)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f catalog.Finding) bool { return !o.wants(f.EpisodeID, f.EpisodeTitle) })
	if len(found) == 0 {
		if err := o.requireEpisode(ctx, from); err != nil {
			return err
		}
	}
	switch o.format {
	case formatTable:
		return show(a, o.out, findingRows(found), "no findings")
	case formatLabels:
		return export.WriteLabels(a.out, found)
	}
	e, err := o.theEpisode(ctx, from)
	if err != nil {
		return err
	}
	cues := export.Cues(e, found)
	if o.format == formatWebVTT {
		return export.WriteWebVTT(a.out, cues)
	}
	return export.WriteChapters(a.out, e, cues)
}

// theEpisode returns the episode whose id is --episode, or else whose title is. It returns a
// usage error if several have that title, and fault.ErrNotFound if none has.
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
		return models.Episode{}, o.notFound()
	case 1:
		return named[0], nil
	}
	var ids []string
	for _, e := range named {
		ids = append(ids, e.ID)
	}
	return models.Episode{}, usagef("%d episodes have the title %q; choose one by its id: --episode %s", len(named), o.episode, wording.Or(ids...))
}

// requireEpisode returns fault.ErrNotFound if --episode names no episode of the catalog.
func (o findingsOptions) requireEpisode(ctx context.Context, from catalog.Catalog) error {
	if o.episode == "" {
		return nil
	}
	all, err := from.Episodes(ctx)
	if err == nil && !slices.ContainsFunc(all, func(e models.Episode) bool { return o.wants(e.ID, e.Title) }) {
		return o.notFound()
	}
	return err
}

func (o findingsOptions) notFound() error {
	return fmt.Errorf("episode %s: %w; see leasehold episode list", o.episode, fault.ErrNotFound)
}

// showProblems prints the problems, of all episodes or of the one that --episode names. As for findings, the
// catalog must have it.
func (a *app) showProblems(ctx context.Context, from catalog.Catalog, o findingsOptions) error {
	problems, err := from.Problems(ctx)
	if err != nil {
		return err
	}
	problems = slices.DeleteFunc(problems, func(p catalog.Problem) bool { return !o.wants(p.EpisodeID, p.EpisodeTitle) })
	if len(problems) == 0 {
		if err := o.requireEpisode(ctx, from); err != nil {
			return err
		}
	}
	return show(a, o.out, problemRows(problems), "no problems")
}

// wants reports whether to print an episode.
func (o findingsOptions) wants(id, title string) bool {
	return o.episode == "" || o.episode == id || o.episode == title
}

// findingRow is a finding as a row (docs/json.md).
type findingRow struct{ catalog.Finding }

func (r findingRow) columns() []column {
	clip := r.ClipTitle
	if r.WithinTitle != "" {
		clip += " (within " + r.WithinTitle + ")"
	}
	return []column{
		{head: "episode", cell: r.EpisodeTitle, fit: cut}, {head: "clip", cell: clip, fit: cut},
		{head: "time", cell: r.Offset.Clock()}, {head: "part", cell: r.Part(), rare: true}, {head: "score", cell: fmt.Sprintf("%.3f", r.Score)},
	}
}

func findingRows(found []catalog.Finding) []findingRow {
	return rowsOf(found, func(f catalog.Finding) findingRow { return findingRow{f} })
}

// problemRow is a problem as a row (docs/json.md).
type problemRow struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
	RetryAt string `json:"retry_at,omitempty"`
	Origin  string `json:"origin,omitempty"`
	Item    string `json:"item,omitempty"`
	Episode string `json:"episode,omitempty"`
	Clip    string `json:"clip,omitempty"`
	Clips   int    `json:"clips,omitempty"`
}

func (r problemRow) columns() []column {
	return []column{{head: "problem with", cell: r.Subject, fit: cut}, {head: "reason", cell: wording.WithoutKind(r.Reason), fit: wrap}, {head: "next attempt", cell: r.RetryAt, rare: true}}
}

func problemRows(problems []catalog.Problem) []problemRow {
	return rowsOf(problems, func(p catalog.Problem) problemRow {
		retryAt := ""
		if !p.RetryAt.IsZero() {
			retryAt = p.RetryAt.Format(timeFormat)
		}
		return problemRow{
			RetryAt: retryAt,
			Subject: subject(p), Reason: p.Reason, At: p.At.Format(timeFormat),
			Origin: p.OriginURI, Item: p.Item, Episode: p.EpisodeTitle, Clip: p.ClipTitle, Clips: p.Clips,
		}
	})
}
