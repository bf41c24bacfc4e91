package cmd

import (
	"github.com/spf13/cobra"

	"leasehold/node"
)

// newOpenAPI is `leasehold openapi`. It is hidden, because a running coordinator serves the
// document; the repository's docs/openapi.yaml and docs/openapi-users.yaml are written with it.
func (a *app) newOpenAPI() *cobra.Command {
	users := false
	c := &cobra.Command{
		Use:    "openapi",
		Short:  "print the OpenAPI document of the HTTP API",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			text, err := node.OpenAPI(users)
			if err == nil {
				_, err = a.out.Write(text)
			}
			return err
		},
	}
	c.Flags().BoolVar(&users, "users", false, "leave out the routes that only managers and workers call")
	return c
}
