package cmd

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/status"
)

// followEvery is the interval at which `leasehold log --follow` reads the new lines.
const followEvery = time.Second

// The arguments of Tuples with which the log is read: no template, and no held tuples.
const (
	anyTuple    = ""
	visibleOnly = false
)

// logOptions are the flags of `leasehold log`.
type logOptions struct {
	out     *output
	follow  bool
	level   string
	session string
}

// newLog is `leasehold log`.
func (a *app) newLog() *cobra.Command {
	var o logOptions
	c := &cobra.Command{
		Use:   "log",
		Short: "print the log of coordinator, managers and workers",
		Long: `Print what the coordinator, managers and workers logged to the space "log":
warnings and errors, sessions that join, drain, end or are lost, visits, and
tasks that died. The space keeps the last 10,000 lines until the coordinator
ends. --follow continues after a restart of the coordinator.`,
		Args: cobra.NoArgs,
	}
	o.out = bindOutput(c)
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new lines until interrupted")
	c.Flags().StringVar(&o.level, "level", "info", "print lines of at least this level: info, warn or error")
	c.Flags().StringVar(&o.session, "session", "", "print only lines of this session, or of this dead task")
	config.BindFlags(c.Flags(), coordinatorKeys...)
	run := a.withCoordinator(func(ctx context.Context, api *client.Client, _ []string) error {
		return a.showLog(ctx, api, o)
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case !slices.Contains([]string{"info", "warn", "error"}, o.level):
			return usagef("--level must be info, warn or error; got %q", o.level)
		case o.follow && (o.out.form == asJSON || o.out.form == asCSV):
			return usagef("--follow cannot be combined with -o %s; use -o jsonl", o.out.form)
		}
		return run(c, args)
	}
	return c
}

// showLog prints the log. With --follow it goes on with new lines until ctx ends, also
// while the coordinator cannot be reached, and returns nil then.
func (a *app) showLog(ctx context.Context, api *client.Client, o logOptions) error {
	page, err := api.Tuples(ctx, status.Log, anyTuple, visibleOnly, client.All)
	if err != nil {
		return err
	}
	if err := a.printLog(o, page.Items); err != nil || !o.follow {
		return err
	}
	last, unreachable := page.Items, false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
		now, err := api.LastTuples(ctx, status.Log, client.TuplesPage)
		if ctx.Err() != nil {
			return nil
		}
		if retry.CanPass(err) { // a coordinator that starts again is what a follower wants to see
			if !unreachable {
				sayf(a.err, "leasehold: %v; trying again\n", err)
			}
			unreachable = true
			continue
		}
		if err != nil {
			return err
		}
		if err := a.printLog(o, newLines(last, now)); err != nil {
			return err
		}
		last, unreachable = now, false
	}
}

// newLines returns the lines of now behind the last line of before; all lines if it is no longer kept. Lines
// have times in nanoseconds, so they differ.
func newLines(before, now []types.Tuple) []types.Tuple {
	if len(before) == 0 {
		return now
	}
	for i, t := range slices.Backward(now) {
		if t.Line == before[len(before)-1].Line {
			return now[i+1:]
		}
	}
	return now
}

// printLog prints lines in the order of their times, because those of the time in which a process could not
// reach the coordinator come late.
func (a *app) printLog(o logOptions, lines []types.Tuple) error {
	var rows []logRow
	for _, t := range lines {
		if r, ok := logRowOf(t); ok && o.wants(r) {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b logRow) int { return a.time().Compare(b.time()) })
	if !o.follow || o.out.structured() {
		return show(a, o.out, rows, "no lines")
	}
	for _, r := range rows { // without aligning columns, which needs all rows
		if _, err := sayf(a.out, "%s  %-5s  %s  %s\n", r.second(), r.Level, r.Session, r.Message); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether a line has the level and the session that the flags select. A line with
// an unknown level is not wanted: it is not of our processes.
func (o logOptions) wants(r logRow) bool {
	var level, wanted slog.Level
	if level.UnmarshalText([]byte(r.Level)) != nil || wanted.UnmarshalText([]byte(o.level)) != nil {
		return false
	}
	return level >= wanted && (o.session == "" || o.session == r.Session)
}

// logRow is a line of the log as a row (docs/json.md).
type logRow struct {
	At      string `json:"at"`
	Level   string `json:"level"`
	Session string `json:"session"`
	Message string `json:"message"`
}

// logRowOf reads a line of the log. ok is false for any other tuple, which clients may put into
// the same space.
func logRowOf(t types.Tuple) (r logRow, ok bool) {
	var text [5]string
	if len(t.Fields) != len(text) {
		return r, false
	}
	for i, f := range t.Fields {
		if json.Unmarshal(f.Value, &text[i]) != nil {
			return r, false
		}
	}
	return logRow{At: text[1], Session: text[2], Level: text[3], Message: text[4]}, text[0] == "log"
}

// time returns when the line was logged; zero if At is not a time.
func (r logRow) time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, r.At)
	return t
}

// second returns the time without the fraction of a second.
func (r logRow) second() string {
	at, _, _ := strings.Cut(r.At, ".")
	return strings.TrimSuffix(at, "Z") + "Z"
}

func (r logRow) columns() []column {
	return []column{
		{head: "at", cell: r.second()}, {head: "level", cell: r.Level}, {head: "session", cell: r.Session}, {head: "message", cell: r.Message, fit: wrap},
	}
}
