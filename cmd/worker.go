package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
)

// newWorker is `leasehold worker`.
func (a *app) newWorker() *cobra.Command {
	c := &cobra.Command{
		Use:   "worker",
		Short: "run a worker, which does tasks",
		Args:  cobra.NoArgs,
		RunE:  a.withConfig(a.runWorker),
	}
	bindSettings(c, config.KeysOf(config.Worker)...)
	return c
}

// runWorker runs a worker until ctx ends.
func (a *app) runWorker(ctx context.Context, cfg config.Config) error {
	log, stop := a.reloadingLogger(ctx, cfg)
	defer stop()
	return node.RunWorker(ctx, cfg, log, a.printSession(cfg, config.Worker))
}

// printSession returns a function that prints the session that a manager or worker has, and the
// gate of its coordinator, to standard error.
func (a *app) printSession(cfg config.Config, mode string) func(session, gate string) {
	return func(session, gate string) {
		a.sayStarted(cfg, mode, "session "+session+" at "+gate, "session", session, "gate", gate)
	}
}
