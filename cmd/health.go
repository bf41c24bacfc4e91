package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/process/wording"
)

// healthTimeout is below the timeout that compose.yaml and stack.yaml give the check.
const healthTimeout = 8 * time.Second

// newHealth is `leasehold health`.
func (a *app) newHealth() *cobra.Command {
	c := &cobra.Command{
		Use:   "health",
		Short: "check the process in this container",
		Long: `Check the process that has the same settings (mode, data folder, coordinator) as
this command, as in its own container. A coordinator must answer; if not, the
exit code is 69. A manager or worker must have a session at the coordinator; if
not, the exit code is 1. While the coordinator does not answer, managers and
workers wait for it, and the exit code is 0. A coordinator that authenticates is
asked with the certificate in the folder of the manager or worker.`,
		Args: cobra.NoArgs,
		RunE: a.withConfig(func(ctx context.Context, cfg config.Config) error {
			if err := cfg.RequireMode(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, healthTimeout)
			defer cancel()
			found, err := node.Health(ctx, cfg)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.out, wording.OneLine(found))
			return err
		}),
	}
	config.BindFlags(c.Flags(), append([]string{"mode", "join"}, coordinatorKeys...)...)
	return c
}
