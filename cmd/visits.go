package cmd

import (
	"github.com/spf13/cobra"
)

// newVisits is `leasehold visits`.
func (a *app) newVisits() *cobra.Command {
	c := &cobra.Command{
		Use:   "visits",
		Short: "show, explain and simulate when origins are visited",
	}
	c.AddCommand(a.newVisitsNext(), a.newVisitsCapacity(), a.newVisitsReplay(), a.newVisitsSimulate())
	return c
}
