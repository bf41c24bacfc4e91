package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/visit/simulate"
)

// maxEvent is the maximum length of a line of events, in bytes.
const maxEvent = 1 << 20

// newVisitsReplay is `leasehold visits replay`.
func (a *app) newVisitsReplay() *cobra.Command {
	c := &cobra.Command{
		Use:   "replay EVENTS.jsonl",
		Short: "replay recorded visits under a policy, and print the effects",
		Long: `Read the outcomes of visits, one JSON object a line (as POST
/api/v1/visits/outcomes takes them), apply them to an empty schedule with
--visit-policy and --visit-rules, and print the effect of each. Nothing is
stored. Target times are spread at random.

--world writes the recorded changes to a file, on which
leasehold visits simulate --scenario FILE can compare policies.`,
		Args: cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	world := c.Flags().String("world", "", "file to write the recorded changes to")
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		if err := checkWritable(*world); err != nil {
			return usagef("world: %s", err)
		}
		rows, outcomes, err := replay(c.Context(), cfg, args[0])
		if errors.Is(err, fault.ErrInvalid) {
			return usagef("%s", err)
		}
		if err != nil {
			return err
		}
		if *world != "" {
			if err := writeWorld(*world, outcomes); err != nil {
				return err
			}
		}
		return show(a, o, rows, "no events")
	}
	config.BindFlags(c.Flags(), "visit-policy", "visit-rules", "log-level", "log-format")
	return c
}

// writeWorld writes the world in which the outcomes were recorded, as JSON. An existing file is replaced.
func writeWorld(path string, outcomes []models.Outcome) error {
	content, err := json.Marshal(simulate.WorldOf(outcomes))
	if err != nil {
		return fmt.Errorf("world: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("world: %w", err)
	}
	return nil
}

// replay returns the outcomes of a file and their effects on an empty schedule in memory, line by line. An
// invalid policy is a usage error.
func replay(ctx context.Context, cfg config.Config, path string) (rows []replayRow, outcomes []models.Outcome, err error) {
	plan, err := policy.ParsePlan(cfg.VisitPolicy, cfg.VisitRules)
	if err != nil {
		return nil, nil, usagef("%s", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("events: %w: %w", fault.ErrInvalid, err)
	}
	defer f.Close()
	schedule, err := node.NewReplay(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, schedule.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxEvent)
	for n := 1; lines.Scan(); n++ {
		var o models.Outcome
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w: %w", path, n, fault.ErrInvalid, err)
		}
		row, err := replayOne(ctx, schedule, o)
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		rows, outcomes = append(rows, row), append(outcomes, o)
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %w", path, fault.ErrInvalid, err)
	}
	return rows, outcomes, nil
}

// replayOne applies an outcome to the schedule and returns its effect as a row.
func replayOne(ctx context.Context, schedule *node.Replay, o models.Outcome) (replayRow, error) {
	effect, l, err := schedule.Apply(ctx, o)
	return replayRow{
		Origin: o.Origin, At: o.At.UTC(), Status: o.Status, Ignored: effect.Ignored, Changed: effect.Changed,
		Index: l.Index, Failures: l.Failures, Disabled: string(l.Disabled), Rate: l.Rate, Until: time.Unix(l.Until, 0).UTC(),
	}, err
}

// replayRow is the effect of an outcome as a row.
type replayRow struct {
	Origin   string        `json:"origin"`
	At       time.Time     `json:"at"`
	Status   models.Status `json:"status"`
	Ignored  string        `json:"ignored,omitempty"`
	Changed  bool          `json:"changed"`
	Index    int           `json:"index"`
	Failures int           `json:"failures"`
	Disabled string        `json:"disabled,omitempty"`
	Rate     float64       `json:"rate_per_day"`
	Until    time.Time     `json:"until"`
}

func (r replayRow) columns() []column {
	return []column{
		{head: "origin", cell: r.Origin}, {head: "at", cell: when(r.At)}, {head: "status", cell: string(r.Status)},
		{head: "changed", cell: fmt.Sprint(r.Changed)}, {head: "index", cell: fmt.Sprint(r.Index)}, {head: "failures", cell: fmt.Sprint(r.Failures)},
		{head: "changes per day", cell: fmt.Sprintf("%.3g", r.Rate)}, {head: "rests until", cell: when(r.Until)}, {head: "ignored", cell: r.Ignored, fit: wrap},
	}
}
