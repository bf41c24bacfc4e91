package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/process/wording"
)

// newSchedule is `leasehold schedule`.
func (a *app) newSchedule() *cobra.Command {
	c := &cobra.Command{
		Use:   "schedule",
		Short: "create tasks at set times (cron) or intervals",
	}
	c.AddCommand(a.newScheduleAdd(), a.newScheduleList(), a.newScheduleShow(), a.newScheduleRemove(),
		a.newScheduleChange("pause", "create no tasks until the schedules are resumed", "paused", (*client.Client).PauseTaskSchedule),
		a.newScheduleChange("resume", "create tasks again, from the next time on", "resumed", (*client.Client).ResumeTaskSchedule))
	return c
}

// newScheduleAdd is `leasehold schedule add`.
func (a *app) newScheduleAdd() *cobra.Command {
	c := &cobra.Command{
		Use:   "add NAME ACTION [JSON|@FILE|@-]",
		Short: "add a schedule, or replace the one with this name",
		Long: `Add a schedule, or replace the one with this name. Whenever it is due, it
creates a task for a worker that serves the action. The data of the task is
JSON: an argument, a file, or standard input (@-).`,
		Example: `  leasehold schedule add nightly import '{"all": true}' --cron '30 3 * * *' --zone Europe/Berlin
  leasehold schedule add poll check --every 15m --missed none`,
		Args: cobra.RangeArgs(2, 3),
	}
	add := scheduleAdd{app: a, command: c, output: bindOutput(c)}
	add.bindFlags(c.Flags())
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if err := add.read(args); err != nil {
			return err
		}
		return add.set(ctx, api, args[0])
	})
}

// scheduleAdd is a call of `leasehold schedule add`.
type scheduleAdd struct {
	*app
	command                 *cobra.Command
	output                  *output
	schedule                types.NewTaskSchedule
	every, timeout, backoff time.Duration
}

// bindFlags adds the flags that describe the schedule and its tasks.
func (s *scheduleAdd) bindFlags(f *pflag.FlagSet) {
	n, t := &s.schedule, &s.schedule.Task
	f.StringVar(&n.Cron, "cron", "", "minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, @yearly")
	f.DurationVar(&s.every, "every", 0, "interval, instead of --cron: 1s to 8784h")
	f.StringVar(&n.Zone, "zone", "", "time zone of --cron, such as Europe/Berlin (default UTC)")
	f.StringVar(&n.Missed, "missed", "", "if it was due while no coordinator ran: create one task (the default) or none")
	f.StringVar(&n.Overlap, "overlap", "", "if the previous task is still alive: skip (the default), wait or allow")
	f.Int64Var(&t.Priority, "priority", 0, "priority; higher is sooner")
	f.DurationVar(&s.timeout, "timeout", 0, "how long an attempt may take (default 10m)")
	f.Int64Var(&t.MaxAttempts, "max-attempts", 0, "number of failed attempts after which the task becomes a dead letter (default: the coordinator's max-attempts, plus 1)")
	f.DurationVar(&s.backoff, "backoff", 0, "pause after a failed attempt")
	filledVar(f, &t.Group, "group", "group of the tasks; groups of equal priority take turns")
	listVar(f, &t.Tags, "tags", "tags, separated by commas")
	listVar(f, &t.Limits, "limits", "limits that the tasks count towards (leasehold limit)")
	f.StringVar(&t.OnLimit, "on-limit", "", "if a limit is reached: wait (the default), cancel_running or drop")
}

// read completes the schedule with the arguments and the durations.
func (s *scheduleAdd) read(args []string) (err error) {
	n, t := &s.schedule, &s.schedule.Task
	if err := needID("schedule", args[0]); err != nil {
		return err
	}
	if hasCron, hasEvery := n.Cron != "", s.command.Flags().Changed("every"); hasCron == hasEvery {
		return usagef("set either --cron, such as --cron '30 3 * * *', or --every, such as --every 15m")
	}
	if err := checkMaxAttempts(s.command, t.MaxAttempts); err != nil {
		return err
	}
	t.Action, n.Every = args[1], models.SecondsOf(s.every)
	t.Timeout, t.Backoff = models.SecondsOf(s.timeout), models.SecondsOf(s.backoff)
	if len(args) > 2 {
		t.Data, err = readData(args[2], s.command.InOrStdin())
	}
	return err
}

// set adds or changes the schedule at the coordinator, and prints it.
func (s *scheduleAdd) set(ctx context.Context, api *client.Client, name string) error {
	set, added, err := api.SetTaskSchedule(ctx, name, s.schedule)
	if err != nil {
		return err
	}
	if s.output.structured() {
		return showOne(s.app, s.output, scheduleRow{set})
	}
	verb := "changed"
	if added {
		verb = "added"
	}
	_, err = fmt.Fprintf(s.out, "%s %s, next at %s\n", verb, set.Name, scheduleRow{set}.next())
	return err
}

// scheduleRow is a schedule of tasks as a row.
type scheduleRow struct{ types.TaskSchedule }

// next returns the next due time in the schedule's zone.
func (r scheduleRow) next() string {
	if r.Paused {
		return "paused"
	}
	return r.local(r.Next)
}

// local formats a time in the schedule's zone. A zone that this machine does not know leaves t in
// its own.
func (r scheduleRow) local(t time.Time) string {
	if zone, err := time.LoadLocation(r.Zone); err == nil {
		t = t.In(zone)
	}
	return when(t)
}

func (r scheduleRow) columns() []column {
	due := r.Cron
	if due == "" {
		due = "every " + r.Every.Duration().String()
	}
	last := ""
	if !r.Last.IsZero() {
		last = r.local(r.Last)
	}
	return []column{
		{head: "schedule", cell: r.Name}, {head: "action", cell: r.Task.Action}, {head: "due", cell: due, fit: cut}, {head: "zone", cell: r.Zone},
		{head: "next", cell: r.next()}, {head: "last", cell: last}, {head: "task", cell: r.LastTask}, {head: "note", cell: wording.WithoutKind(r.Note), rare: true, fit: wrap},
		{head: "missed", cell: r.Missed, detail: true},
		{head: "overlap", cell: r.Overlap, detail: true},
		{head: "priority", cell: fmt.Sprint(r.Task.Priority), detail: true},
		{head: "group", cell: r.Task.Group, detail: true},
		{head: "tags", cell: strings.Join(r.Task.Tags, ", "), detail: true},
		{head: "limits", cell: strings.Join(r.Task.Limits, ", "), detail: true},
		{head: "data", cell: string(r.Task.Data), detail: true},
	}
}

// newScheduleList is `leasehold schedule list`.
func (a *app) newScheduleList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "print the schedules, when each is due, and why one was skipped",
	}
	asRow := func(s types.TaskSchedule) scheduleRow { return scheduleRow{s} }
	return listCommand(a, c, (*client.Client).TaskSchedules, asRow, "no schedules")
}

// newScheduleShow is `leasehold schedule show`.
func (a *app) newScheduleShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "print one schedule",
		Args:  cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if err := needID("schedule", args[0]); err != nil {
			return err
		}
		s, err := api.TaskSchedule(ctx, args[0])
		if err != nil {
			return err
		}
		return showOne(a, o, scheduleRow{s})
	})
}

// newScheduleRemove is `leasehold schedule remove`.
func (a *app) newScheduleRemove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove NAME…",
		Short: "remove schedules, but not the tasks that they created",
		Args:  cobra.MinimumNArgs(1),
	}
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		return a.eachSchedule(args, func(name string) (string, error) {
			return "removed " + name, api.RemoveTaskSchedule(ctx, name)
		})
	})
}

// newScheduleChange is `leasehold schedule pause` or `leasehold schedule resume`: it
// calls do with each schedule and prints past.
func (a *app) newScheduleChange(verb, short, past string, do func(*client.Client, context.Context, string) (types.TaskSchedule, error)) *cobra.Command {
	c := &cobra.Command{
		Use:   verb + " NAME…",
		Short: short,
		Args:  cobra.MinimumNArgs(1),
	}
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		return a.eachSchedule(args, func(name string) (string, error) {
			s, err := do(api, ctx, name)
			if err == nil && !s.Paused {
				return fmt.Sprintf("%s %s, next at %s", past, name, scheduleRow{s}.next()), nil
			}
			return past + " " + name, err
		})
	})
}

// eachSchedule calls do with each schedule, and prints the line that it returns. The
// first error ends it.
func (a *app) eachSchedule(names []string, do func(name string) (string, error)) error {
	for _, name := range names {
		if err := needID("schedule", name); err != nil {
			return err
		}
		line, err := do(name)
		if err != nil {
			return err
		}
		if _, err := sayf(a.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}
