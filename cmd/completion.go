package cmd

import "github.com/spf13/cobra"

// newCompletion is `leasehold completion`.
func (a *app) newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print a completion script for a shell",
		Long: `Print a script that completes commands and flags in a shell:

  source <(leasehold completion bash)     # this shell, or in ~/.bashrc
  leasehold completion zsh > "${fpath[1]}/_leasehold"   # then a new shell
  leasehold completion fish > ~/.config/fish/completions/leasehold.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			default:
				return root.GenFishCompletion(a.out, true)
			}
		},
	}
}
