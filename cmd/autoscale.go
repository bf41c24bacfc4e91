package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"leasehold/cmd/autoscale"
	"leasehold/node/locate"
	"leasehold/shared/api/client"
	"leasehold/shared/config"
)

// autoscaleFlags are the flags of `leasehold autoscale` beside those that name the coordinator.
type autoscaleFlags struct {
	autoscale.Options
	autoscale.Scaler
	service, command string
}

// newAutoscale is `leasehold autoscale`.
func (a *app) newAutoscale() *cobra.Command {
	var f autoscaleFlags
	c := &cobra.Command{
		Use:   "autoscale",
		Short: "start and end workers as the queue of an action grows and shrinks",
		Long: `Keep as many workers of an action as its queue needs, so that a task waits for
at most --target-wait. The coordinator computes the slots for that from the
tasks that wait and arrive, and from the mean time of the latest attempts.

Workers are added at once, at most as many again as there are, and then --settle
passes. They are ended if a fifth fewer were enough for the time --calm, at most
half of them at once. Give them this action only, because a worker that drains
ends for all of its actions.

--docker-service names a replicated service of a swarm. Run this on a manager of
the swarm. Docker ends workers with SIGTERM, at which they drain.

--command is a program that starts and ends workers. No shell runs it. It gets
LEASEHOLD_AUTOSCALE_ACTION, _FROM and _TO, the numbers of workers before and
after, and may get the same again. To have fewer, sessions are drained first.
The command runs when they have ended, or after --drain-timeout, with their
names in LEASEHOLD_AUTOSCALE_DRAINED, separated by spaces.`,
		Example: "  leasehold autoscale --action resize --max 20 --docker-service leasehold_worker\n" +
			"  leasehold autoscale --action resize --min 0 --max 8 --command ./scale.sh",
		Args: cobra.NoArgs,
	}
	flags := c.Flags()
	flags.StringVar(&f.Action, "action", "", "action whose tasks are counted")
	flags.IntVar(&f.Min, "min", 1, "fewest workers")
	flags.IntVar(&f.Max, "max", 0, "most workers")
	flags.DurationVar(&f.Target, "target-wait", 30*time.Second, "time for which a task shall wait at most; whole seconds")
	flags.StringVar(&f.service, "docker-service", "", "service of a swarm that is scaled")
	flags.StringVar(&f.command, "command", "", "program that starts and ends workers")
	flags.IntVar(&f.Slots, "slots", 0, "slots of a worker for the action; 0: as those that are connected have, or 1")
	flags.DurationVar(&f.Interval, "interval", 10*time.Second, "time between two looks at the queue")
	flags.DurationVar(&f.Settle, "settle", time.Minute, "time within which new workers connect")
	flags.DurationVar(&f.Calm, "calm", 5*time.Minute, "time for which fewer workers must have been enough before some end")
	flags.DurationVar(&f.DrainTimeout, "drain-timeout", 10*time.Minute, "time for which drained workers are waited for before --command runs")
	config.BindFlags(flags, catalogKeys...)
	c.RunE = a.withConfig(func(ctx context.Context, cfg config.Config) error {
		if err := f.check(); err != nil {
			return err
		}
		fleet, err := f.fleet(ctx)
		if err != nil {
			return err
		}
		f.Log = a.newLogger(cfg)
		f.Say = func(line string) { _, _ = sayf(a.out, "%s\n", line) } // scaling goes on without a reader
		isStopped := false
		err = locate.Call(ctx, cfg, func(ctx context.Context, api *client.Client) error {
			autoscale.Run(ctx, api, fleet, &f.Scaler, f.Options)
			isStopped = true
			return nil
		})
		if isStopped { // by a signal, as a mode is
			return nil
		}
		return err
	})
	return c
}

func (f *autoscaleFlags) check() error {
	switch {
	case needID("action", f.Action) != nil:
		return needID("action", f.Action)
	case f.Min < 0 || f.Max < 1 || f.Min > f.Max || f.Max > autoscale.MostWorkers:
		return usagef("--min %d, --max %d: want 0 or more workers, and at most 1 to %d", f.Min, f.Max, autoscale.MostWorkers)
	case f.Target < time.Second || f.Target > 24*time.Hour || f.Target%time.Second != 0:
		return usagef("--target-wait %s: want 1s to 24h, in whole seconds", f.Target)
	case f.Slots < 0:
		return usagef("--slots %d: want 0 or more", f.Slots)
	case f.Interval < 100*time.Millisecond:
		return usagef("--interval %s: want 100ms or more", f.Interval)
	case f.Settle < 0 || f.Calm < 0 || f.DrainTimeout < 0:
		return usagef("--settle, --calm and --drain-timeout: want 0 or more")
	case (f.service == "") == (f.command == ""):
		return usagef("want either --docker-service or --command")
	}
	return nil
}

// fleet returns what the flags name.
func (f *autoscaleFlags) fleet(ctx context.Context) (autoscale.Fleet, error) {
	if f.service != "" {
		return autoscale.NewService(ctx, f.service)
	}
	words, err := config.SplitCommand(f.command)
	if err != nil || len(words) == 0 {
		return nil, usagef("--command %q: want a program with each quote closed", f.command)
	}
	return autoscale.NewCommand(words)
}
