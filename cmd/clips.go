package cmd

import "github.com/spf13/cobra"

// newClips is `leasehold clips`.
func (a *app) newClips() *cobra.Command {
	c := &cobra.Command{
		Use:   "clips",
		Short: "list, check and find clips",
		Long: `List the clips of the catalog and set which are searched for first; check a
folder of clips; find clips in recordings.

match, explain, check and bench work on files and need no coordinator.`,
	}
	addRecordings(a, c, clipRecordings)
	c.AddCommand(a.newClipsCheck(), a.newClipsMatch(), a.newClipsExplain(), a.newClipsBench())
	return c
}
