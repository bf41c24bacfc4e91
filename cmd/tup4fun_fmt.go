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
		Short: "format models",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if write && list {
				return usagef("--write cannot be combined with --list")
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
					unformatted = errReported
				case list || write && text == src: // it is formatted already
				case write && path != "-":
					if err := os.WriteFile(path, []byte(text), 0o666); err != nil { // the file exists and keeps its mode
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
	c.Flags().BoolVarP(&list, "list", "l", false, "only list files that are not formatted; the exit code is 1 if there are any")
	return c
}
