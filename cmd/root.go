package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/config"
)

// newRoot builds the tree of commands.
func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "leasehold",
		Short: "find what is played where: work is a tuple, the right to do it is a lease",
		Long: `Leasehold distributes work through tuple spaces: managers put leased work-items
into them, workers take them and put results back.`,
		Args:          knownCommand,
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
		RunE:          a.runMode,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%s; see %s --help", err, c.CommandPath())
	})
	config.BindFlags(root.Flags())
	root.AddCommand(a.newRun(), a.newCoordinator(), a.newManager(), a.newWorker(), a.newFindings(), a.newAudio(), a.newClips(),
		a.newOrigin(), a.newStatus(), a.newSpace(), a.newTask(), a.newDead(), a.newDrain(), a.newVisits(),
		a.newBackup(), a.newRestore(), a.newRepair(), a.newConfig(), a.newDoctor(), a.newTup4fun(), a.newVersion(), a.newOpenAPI(), a.newCompletion())
	for _, c := range root.Commands() {
		wrapUsageErrors(c)
	}
	return root
}

// runMode is `mode=… leasehold`, without a command.
func (a *app) runMode(c *cobra.Command, _ []string) error {
	cfg, err := a.load(c)
	if err != nil {
		return err
	}
	if err := cfg.RequireMode(); err != nil {
		return err
	}
	switch cfg.Mode {
	case config.Coordinator:
		return a.runCoordinator(c.Context(), cfg)
	case config.Manager:
		return a.runManager(c.Context(), cfg)
	default:
		return a.runWorker(c.Context(), cfg)
	}
}

// wrapUsageErrors makes the errors that cobra finds in arguments usage errors, and
// lets a command that only groups others say so.
func wrapUsageErrors(c *cobra.Command) {
	if c.HasSubCommands() {
		c.Args = knownCommand
		c.RunE = func(c *cobra.Command, _ []string) error {
			return usagef("%s needs one of: %s", c.CommandPath(), strings.Join(commandNames(c), ", "))
		}
	} else if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usagef("%s: %s; usage: %s", c.CommandPath(), err, c.UseLine())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapUsageErrors(sub)
	}
}

// knownCommand refuses a word that is none of c's commands.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	hint := "; there are " + strings.Join(commandNames(c), ", ")
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	where := ""
	if c.HasParent() {
		where = " of " + c.CommandPath()
	}
	return usagef("unknown command %q%s%s", args[0], where, hint)
}

func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
