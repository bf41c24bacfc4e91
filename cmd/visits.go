package cmd

import (
	"github.com/spf13/cobra"
)

// newVisits is `leasehold visits`.
func (a *app) newVisits() *cobra.Command {
	c := &cobra.Command{
		Use:   "visits",
		Short: "when origins are looked at again, and how well that would go",
	}
	c.AddCommand(a.newVisitsNext(), a.newVisitsReplay(), a.newVisitsSimulate())
	return c
}
