package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
)

// newIdentity is `leasehold identity`.
func (a *app) newIdentity() *cobra.Command {
	c := &cobra.Command{Use: "identity", Short: "show the identity of a coordinator that authenticates"}
	var ca bool
	shown := &cobra.Command{
		Use: "show", Short: "print the fingerprint of the coordinator, or its CA certificate",
		Long: "Print the fingerprint of the coordinator, which commands take as --ca, or the\ncertificate of its CA, for a browser and for clients that verify names.",
		Args: cobra.NoArgs,
		RunE: a.withConfig(func(_ context.Context, cfg config.Config) error {
			fingerprint, certificate, err := node.ShowIdentity(cfg)
			if err != nil {
				return err
			}
			if ca {
				_, err = a.out.Write(certificate)
				return err
			}
			_, err = sayf(a.out, "%s\n", fingerprint)
			return err
		}),
	}
	shown.Flags().BoolVar(&ca, "ca", false, "print the CA certificate as PEM")
	config.BindFlags(shown.Flags(), "data")
	c.AddCommand(shown)
	return c
}
