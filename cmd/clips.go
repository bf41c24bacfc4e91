package cmd

import "github.com/spf13/cobra"

// newClips is `leasehold clips`.
func (a *app) newClips() *cobra.Command {
	c := &cobra.Command{
		Use:   "clips",
		Short: "check a collection of clips",
	}
	c.AddCommand(a.newClipsCheck())
	return c
}
