package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/config"
)

// newConfig is `leasehold config`.
func (a *app) newConfig() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "look at the settings",
	}
	c.AddCommand(a.newConfigShow(), a.newConfigCheck())
	return c
}

// newConfigShow is `leasehold config show`.
func (a *app) newConfigShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "print every setting, its value, and where that comes from",
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		var rows []settingRow
		for _, v := range cfg.Values() {
			rows = append(rows, settingRow{v})
		}
		return show(a, o, rows, "")
	}
	bindSettings(c, config.Keys()...)
	return c
}

// settingRow is a setting as it is printed.
type settingRow struct{ config.Value }

func (r settingRow) columns() []column {
	return []column{{head: "setting", cell: r.Key}, {head: "value", cell: r.Value.Value}, {head: "from", cell: r.Source}}
}

// newConfigCheck is `leasehold config check`.
func (a *app) newConfigCheck() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "say whether the settings are in order; exit code 2 when not",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load(c)
			if asJSON {
				return a.printFaults(err)
			}
			if err != nil {
				return err
			}
			where := "no file"
			if cfg.File() != "" {
				where = cfg.File()
			}
			_, err = fmt.Fprintf(a.out, "the settings are in order (%s)\n", where)
			return err
		},
	}
	bindSettings(c, config.Keys()...)
	bindJSON(c, &asJSON)
	return c
}

// printFaults prints what Load found wrong, one line of JSON for each fault, and
// nothing when all is in order.
func (a *app) printFaults(err error) error {
	var wrong config.Invalid
	if !errors.As(err, &wrong) {
		return err
	}
	return errors.Join(errSaid, err, printJSONLines(a, wrong))
}
