package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
)

// newUpgrade is `leasehold upgrade`.
func (a *app) newUpgrade() *cobra.Command {
	c := &cobra.Command{Use: "upgrade", Short: "end the upgrade of coordinators that share a database"}
	c.AddCommand(a.newUpgradeFinish())
	return c
}

// newUpgradeFinish is `leasehold upgrade finish`.
func (a *app) newUpgradeFinish() *cobra.Command {
	c := &cobra.Command{
		Use: "finish", Short: "have all coordinators write the format of the newer version",
		Long: `End an upgrade after all coordinators that share a database were replaced by the
newer version: from then on they write its format. Until then they write that of
the version before, which could come back. If a coordinator does not read the
newer format, the command names it and changes nothing. Earlier versions are
refused afterwards (docs/upgrade.md).`,
		Example: "  leasehold upgrade finish --host one.lan,two.lan,three.lan",
		Args:    cobra.NoArgs,
	}
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		u, err := api.FinishUpgrade(ctx)
		if err != nil {
			return err
		}
		_, err = sayf(a.out, "The realm has format %d.\n", u.Format)
		return err
	})
}
