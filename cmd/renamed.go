package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

// renamed are the earlier names of commands, without "leasehold", and their names now. A command and
// its subcommands have one entry each.
var renamed = map[string]string{
	"audio":         "clips",
	"audio match":   "clips match",
	"audio explain": "clips explain",
	"audio bench":   "clips bench",
	"clip":          "clips",
	"clip list":     "clips list",
	"clip show":     "clips show",
	"clip set":      "clips set",
}

// newRenamed returns a hidden command for each earlier name of a command. It fails with the new name.
func newRenamed() (all []*cobra.Command) {
	for old, now := range renamed {
		if strings.Contains(old, " ") {
			continue
		}
		all = append(all, &cobra.Command{
			Use:                old,
			Short:              "renamed to " + now,
			Hidden:             true,
			DisableFlagParsing: true, // the new command has the flags
			RunE: func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					if now, ok := renamed[old+" "+args[0]]; ok {
						return usagef("%q is now %q", old+" "+args[0], now)
					}
				}
				return usagef("%q is now %q", old, now)
			},
		})
	}
	return all
}
