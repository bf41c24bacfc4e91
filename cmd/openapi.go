package cmd

import (
	"github.com/spf13/cobra"

	"leasehold/node"
)

// newOpenAPI is `leasehold openapi`. It is hidden, because a running coordinator serves the
// document; the repository's docs/openapi.yaml is written with it.
func (a *app) newOpenAPI() *cobra.Command {
	return &cobra.Command{
		Use:    "openapi",
		Short:  "print the OpenAPI document of the HTTP API",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			text, err := node.OpenAPI()
			if err == nil {
				_, err = a.out.Write(text)
			}
			return err
		},
	}
}
