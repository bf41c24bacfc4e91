package cmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/syntax"
)

// newTupFmt is `leasehold tup4fun fmt`.
func (a *app) newTupFmt() *cobra.Command {
	var write, list bool
	c := &cobra.Command{
		Use:   "fmt MODEL…",
		Short: "print models in the one form that they are written in",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if write && list {
				return usagef("--write goes not with --list")
			}
			var unformatted error
			for _, path := range args {
				src, err := readSource(path)
				if err != nil {
					return err
				}
				text, err := syntax.Format(path, src)
				if err != nil {
					return usageError(err.Error())
				}
				switch {
				case list && text != src:
					fmt.Fprintln(a.out, path)
					unformatted = errSaid
				case list || write && text == src:
				case write && path != "-":
					if err := os.WriteFile(path, []byte(text), 0o666); err != nil { // it is there: its mode stays
						return err
					}
				default:
					fmt.Fprint(a.out, text)
				}
			}
			return unformatted
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the result to the file")
	c.Flags().BoolVarP(&list, "list", "l", false, "only name the files that are in another form; exit code 1 if there are any")
	return c
}
