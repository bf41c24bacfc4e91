package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leasehold/shared/config"
)

// The groups that are named elsewhere: of the commands that run a process, and of those about the
// program itself.
const (
	runGroup     = "run"
	programGroup = "program"
)

// A commandGroup is the commands of one job, under a title in the help.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

// commandGroups returns all commands that the help lists, except help.
func (a *app) commandGroups() []commandGroup {
	return []commandGroup{
		{runGroup, "Run the system:", []*cobra.Command{a.newRun(), a.newCoordinator(), a.newManager(), a.newWorker()}},
		{"clips", "Clips:", []*cobra.Command{a.newClips(), a.newEpisode(), a.newFindings()}},
		{"code", "Code:", []*cobra.Command{a.newSearch(), a.newSymbols(), a.newReport(), a.newIndex(), a.newMCP()}},
		{"visits", "Visits:", []*cobra.Command{a.newOrigin(), a.newVisits()}},
		{"tasks", "Tasks:", []*cobra.Command{a.newActions(), a.newTask(), a.newAutoscale(), a.newSchedule(), a.newLimit(), a.newLeases(), a.newDead()}},
		{"care", "Look after it:", []*cobra.Command{
			a.newStatus(), a.newTop(), a.newLog(), a.newSession(), a.newDrain(), a.newSpace(), a.newMembers(), a.newUpgrade(), a.newMove(), a.newBackup(), a.newRestore(), a.newRepair(),
			a.newDoctor(), a.newConfig(), a.newHealth(),
		}},
		{"security", "Security:", []*cobra.Command{a.newInvite(), a.newInvites(), a.newPeers(), a.newToken(), a.newAudit(), a.newIdentity()}},
		{"protocols", "Protocols:", []*cobra.Command{a.newTup4fun()}},
		{programGroup, "This program:", []*cobra.Command{a.newVersion(), a.newCompletion()}},
	}
}

// newRoot builds the tree of commands.
func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "leasehold",
		Short: "coordinate work through tuple spaces: clips, code, visits and tasks",
		Long: `Leasehold has four jobs. It finds where clips are played in recordings, searches
the code of repositories, decides which origin to visit next, and runs your own
tasks. Managers create work, and workers take it under a lease. If one of them
dies, another takes over its work.

Without a command, leasehold runs as a coordinator, a manager or a worker if the
setting "mode" names one: as the environment variable mode, as --mode, or in the
file of settings. It then accepts the flags of that command.`,
		Args:          knownCommand,
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
		RunE:          a.runMode,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(root, c, err) })
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprint(".FlagUsagesWrapped ", helpWidth)))
	config.BindFlags(root.Flags(), config.Keys()...)
	root.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = f.Name != "mode" && f.Name != "config" })
	bindVersion(root)
	for _, g := range a.commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
			wrapUsageErrors(c)
		}
	}
	openAPI := a.newOpenAPI()
	wrapUsageErrors(openAPI)
	root.AddCommand(openAPI)
	root.AddCommand(newRenamed()...)
	root.SetHelpCommandGroupID(programGroup)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short = "print the help of a command"
	}
	return root
}

// runMode runs leasehold without a command: it runs the mode that the settings name. Flags that
// the mode does not have are errors, all of them reported at once. The settings are loaded twice,
// because the mode, which selects the flags, may itself be in the environment or in the file.
func (a *app) runMode(c *cobra.Command, _ []string) error {
	cfg, err := config.Load(pick(c.Flags(), "mode", "config"))
	if err != nil {
		return err
	}
	if err := cfg.RequireMode(); err != nil {
		return err
	}
	mode, _, err := c.Find([]string{cfg.Mode})
	if err != nil {
		return err
	}
	var wrong []error
	used := []string{"mode"}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if mode.Flags().Lookup(f.Name) != nil {
			used = append(used, f.Name)
		} else if f.Changed && f.Name != "mode" {
			wrong = append(wrong, notUsed("mode "+cfg.Mode, f.Name, usersOf(c, f.Name), nil))
		}
	})
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	a.flags = pick(c.Flags(), used...)
	if cfg, err = a.loadFlags(); err != nil {
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

// pick returns the flags with these names, which from has. Their values and whether they were set
// are shared with from.
func pick(from *pflag.FlagSet, names ...string) *pflag.FlagSet {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range names {
		some.AddFlag(from.Lookup(name))
	}
	return some
}

// bindSettings binds the flags of settings, and groups all flags in the command's help.
func bindSettings(c *cobra.Command, keys ...string) {
	config.BindFlags(c.Flags(), keys...)
	c.SetUsageFunc(func(c *cobra.Command) error {
		out := c.OutOrStderr()
		_, err := fmt.Fprintf(out, "Usage:\n  %s\n", c.UseLine())
		for _, g := range config.GroupFlags(c.LocalFlags()) {
			if err == nil {
				_, err = fmt.Fprintf(out, "\n%s:\n%s", cmp.Or(g.Title, "Flags"), g.Flags.FlagUsagesWrapped(helpWidth))
			}
		}
		return err
	})
}

// helpWidth is the number of columns of help texts.
const helpWidth = 80

// wrapUsageErrors turns the errors that cobra finds in the number of arguments into usage errors, for
// c and all its subcommands. A command that only groups others returns a usage error if none of them
// is named.
func wrapUsageErrors(c *cobra.Command) {
	if c.HasSubCommands() {
		c.Args = knownCommand
		c.RunE = func(c *cobra.Command, _ []string) error {
			return usagef("%s needs one of: %s", nameOf(c), strings.Join(commandNames(c), ", "))
		}
	} else if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			switch err := check(c, args); {
			case err == nil:
				return nil
			case len(args) == 0, check(c, append(slices.Clone(args), "one more")) == nil:
				return usagef("%s: an argument is missing; usage: %s", nameOf(c), c.UseLine())
			}
			return usagef("%s: unexpected arguments: %s; usage: %s", nameOf(c), quoted(args), c.UseLine())
		}
	}
	for _, sub := range c.Commands() {
		wrapUsageErrors(sub)
	}
}

// nameOf returns the name of a command in messages, which begin with "leasehold:" already.
func nameOf(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// quoted returns arguments as a message shows them.
func quoted(args []string) string {
	var all []string
	for _, a := range args {
		all = append(all, fmt.Sprintf("%q", a))
	}
	return strings.Join(all, " ")
}

// knownCommand returns a usage error if there is an argument: cobra calls it only if none of c's commands has
// that name.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	hint := "; use one of " + strings.Join(commandNames(c), ", ")
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	where := ""
	if c.HasParent() {
		where = " of " + c.CommandPath()
	}
	return usagef("unknown command %q%s%s", args[0], where, hint)
}

// commandNames returns the names of the subcommands that the help lists.
func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
