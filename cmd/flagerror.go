package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leasehold/shared/process/wording"
)

// accepted is what the flags of each type accept, for the error about another value. Flags of our
// own types explain their values themselves.
var accepted = map[string]string{
	"duration":  "a time such as 500ms, 30s, 5m or 1h30m",
	"int":       "a whole number",
	"int64":     "a whole number",
	"uint":      "a whole number that is not negative",
	"uint64":    "a whole number that is not negative",
	"float64":   "a number",
	"bool":      "true or false",
	"intSlice":  "whole numbers with commas between them",
	"uintSlice": "whole numbers that are not negative, with commas between them",
}

// dashAdvice is the annotation of a command whose arguments may begin with a minus sign: what follows
// the error about a flag of one letter, which was probably the beginning of an argument.
const dashAdvice = "dash"

// flagError returns the usage error for a flag of c that could not be parsed. It names the commands
// that have the flag, the flag that was probably meant, or the values that are accepted. If c is a group and the flag
// follows an unknown command, the error is about the command.
func flagError(root, c *cobra.Command, err error) error {
	if c.HasSubCommands() {
		if unknown := knownCommand(c, c.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	advice := ""
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			advice = c.Annotations[dashAdvice]
		}
		err = fmt.Errorf("%w%s", err, wording.DidYouMean("--"+name, flagNames(c)))
		err = notUsed(nameOf(c), name, usersOf(root, name), err)
	case errors.As(err, &invalid):
		if want := accepted[invalid.GetFlag().Value.Type()]; want != "" {
			err = fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
		}
		if invalid.GetFlag().Shorthand != "" {
			advice = c.Annotations[dashAdvice]
		}
	}
	return usagef("%s%s; see %s --help", err, advice, c.CommandPath())
}

// flagNames returns the flags that the help of c lists, each with its two dashes.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return names
}

// usersOf returns the commands that run a process and have a flag of that name.
func usersOf(root *cobra.Command, flag string) []string {
	var users []string
	for _, c := range root.Commands() {
		if c.GroupID == runGroup && c.Flags().Lookup(flag) != nil {
			users = append(users, c.Name())
		}
	}
	return users
}

// notUsed returns the error for a flag of other commands; unknown if no command has it.
func notUsed(user, flag string, users []string, unknown error) error {
	switch {
	case flag == "mode":
		return usagef("%s does not use --mode, a flag of leasehold without a command", user)
	case len(users) == 0:
		return unknown
	}
	return usagef("%s does not use --%s, a flag of %s", user, flag, wording.And(users...))
}
