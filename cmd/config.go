package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"leasehold/shared/config"
)

// newConfig is `leasehold config`.
func (a *app) newConfig() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "show and check the settings",
	}
	c.AddCommand(a.newConfigShow(), a.newConfigCheck())
	return c
}

// newConfigShow is `leasehold config show`.
func (a *app) newConfigShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show",
		Short: "print each setting, its value and where that comes from",
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		return show(a, o, rowsOf(cfg.Values(), func(v config.Value) settingRow { return settingRow{v} }), "")
	}
	bindSettings(c, config.Keys()...)
	return c
}

// settingRow is a setting as a row.
type settingRow struct{ config.Value }

func (r settingRow) columns() []column {
	return []column{{head: "setting", cell: r.Key}, {head: "value", cell: r.Value.Value, fit: wrap}, {head: "from", cell: r.Source, fit: cutStart}}
}

// newConfigCheck is `leasehold config check`.
func (a *app) newConfigCheck() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "check the settings; the exit code is 2 if one is invalid",
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
			_, err = sayf(a.out, "the settings are valid (%s)\n", where)
			return err
		},
	}
	bindSettings(c, config.Keys()...)
	bindJSON(c, &asJSON)
	return c
}

// printFaults prints each fault that Load returned as a line of JSON, and nothing if err is nil.
// An error of another kind is returned as it is; after faults the error is err, marked as
// reported.
func (a *app) printFaults(err error) error {
	var wrong config.Invalid
	if !errors.As(err, &wrong) {
		return err
	}
	return errors.Join(errReported, err, printJSONLines(a, wrong))
}
