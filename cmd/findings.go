package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
)

// The formats of `leasehold findings`.
const (
	formatTable  = "table"
	formatLabels = "labels" // of Audacity: start, end, text, separated by tabs
)

// findingsOptions are the flags of `leasehold findings`.
type findingsOptions struct {
	asJSON   bool
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
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.format != formatTable && o.format != formatLabels {
				return usagef("--format must be %s or %s; got %q", formatTable, formatLabels, o.format)
			}
			if o.format == formatLabels && (o.asJSON || o.problems) {
				return usagef("--format %s goes neither with --json nor with --problems", formatLabels)
			}
			h, err := a.openHouse(c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.close()) }()
			if o.problems {
				return a.showProblems(c, h, o)
			}
			return a.showFindings(c, h, o)
		},
	}
	bindJSON(c, &o.asJSON)
	c.Flags().BoolVar(&o.problems, "problems", false, "print what could not be done instead, and why")
	c.Flags().StringVar(&o.format, "format", formatTable, "table, or labels for Audacity")
	c.Flags().StringVar(&o.episode, "episode", "", "only this episode, by its title or id")
	config.BindFlags(c.Flags(), dataKeys...)
	return c
}

func (a *app) showFindings(c *cobra.Command, h *house, o findingsOptions) error {
	found, err := h.catalog.Findings(c.Context())
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f catalog.Found) bool { return !o.wants(f.Episode, f.EpisodeTitle) })
	switch {
	case o.asJSON:
		return printJSONLines(a, rows(found))
	case o.format == formatLabels:
		return a.printLabels(found)
	case len(found) == 0:
		_, err := fmt.Fprintln(a.out, "no findings")
		return err
	}
	return a.printFindings(found)
}

func (a *app) showProblems(c *cobra.Command, h *house, o findingsOptions) error {
	problems, err := h.catalog.Problems(c.Context())
	if err != nil {
		return err
	}
	problems = slices.DeleteFunc(problems, func(p catalog.Problem) bool { return !o.wants(p.Episode, p.EpisodeTitle) })
	switch {
	case o.asJSON:
		return printJSONLines(a, problemRows(problems))
	case len(problems) == 0:
		_, err := fmt.Fprintln(a.out, "no problems")
		return err
	}
	return a.printProblems(problems)
}

// wants reports whether an episode is to be shown.
func (o findingsOptions) wants(id, title string) bool {
	return o.episode == "" || o.episode == id || o.episode == title
}

// findingRow is a finding as JSON shows it (docs/json.md).
type findingRow struct {
	Episode   string         `json:"episode"` // title
	Clip      string         `json:"clip"`    // title
	Offset    models.Seconds `json:"offset_s"`
	Duration  models.Seconds `json:"duration_s"`
	Score     float64        `json:"score"`
	EpisodeID string         `json:"episode_id"`
	ClipID    string         `json:"clip_id"`
	URI       string         `json:"episode_uri"`
}

func rows(found []catalog.Found) []findingRow {
	rows := make([]findingRow, len(found))
	for i, f := range found {
		rows[i] = findingRow{
			Episode: f.EpisodeTitle, Clip: f.ClipTitle, Offset: f.Offset, Duration: f.Duration, Score: f.Score,
			EpisodeID: f.Episode, ClipID: f.Clip, URI: f.EpisodeURI,
		}
	}
	return rows
}

// problemRow is a problem as JSON shows it (docs/json.md).
type problemRow struct {
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
	Origin  string `json:"origin,omitempty"`
	Item    string `json:"item,omitempty"`
	Episode string `json:"episode,omitempty"`
	Clip    string `json:"clip,omitempty"`
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

// printLabels prints a label track for Audacity, in the order of time. Labels of
// several episodes name theirs.
func (a *app) printLabels(found []catalog.Found) error {
	several := slices.ContainsFunc(found, func(f catalog.Found) bool { return f.Episode != found[0].Episode })
	if !several {
		slices.SortStableFunc(found, func(a, b catalog.Found) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	for _, f := range found {
		label := f.ClipTitle
		if several {
			label = f.EpisodeTitle + ": " + label
		}
		label = strings.Join(strings.Fields(label), " ")
		if _, err := fmt.Fprintf(a.out, "%.6f\t%.6f\t%s\n", f.Offset, f.Offset+f.Duration, label); err != nil {
			return err
		}
	}
	return nil
}
