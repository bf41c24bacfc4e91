package cmd

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"leasehold/cmd/top"
	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/process/wording"
)

// newTop is `leasehold top`.
func (a *app) newTop() *cobra.Command {
	var once, asJSON bool
	c := &cobra.Command{
		Use:   "top",
		Short: "watch and steer a coordinator on one screen",
		Long: `Show what needs attention, the actions, the workers and the tasks on one screen,
and keep it up to date. Keys pause and resume actions, requeue and discard dead
letters, cancel tasks and drain workers, as far as your role allows it; ? lists
them.

While the coordinator cannot be reached, the screen keeps the latest data, tells
their age, and tries again.`,
		Example: "  leasehold top\n  leasehold top --once\n  leasehold top --json",
		Args:    cobra.NoArgs,
	}
	c.Flags().BoolVar(&once, "once", false, "print one picture and end")
	bindJSON(c, &asJSON)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		o := top.Options{
			Colour: !once && os.Getenv("NO_COLOR") == "",
			Clean:  func(text string) string { return models.Redact(wording.Printable(text)) },
		}
		if once && asJSON {
			return usagef("--once cannot be combined with --json")
		}
		if !once && !asJSON {
			if !canRedraw(a.out) || !isTerminal(os.Stdin) {
				return usagef("top needs a terminal; use --once or --json elsewhere")
			}
			return top.Run(ctx, api, o, os.Stdin, fileOf(a.out))
		}
		d, err := top.Read(ctx, api, "")
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.printJSON(d)
		}
		_, err = io.WriteString(a.out, top.Once(d, o, terminalWidth(a.out)))
		return err
	})
}
