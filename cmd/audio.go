package cmd

import "github.com/spf13/cobra"

// newAudio is `leasehold audio`: finding clips without a coordinator.
func (a *app) newAudio() *cobra.Command {
	c := &cobra.Command{
		Use:   "audio",
		Short: "find clips in files here and now, and measure how well",
	}
	c.AddCommand(a.newAudioMatch(), a.newAudioExplain(), a.newAudioBench())
	return c
}
