package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"leasehold/shared/config"
	"leasehold/shared/doctor"
	"leasehold/shared/fault"
)

// newDoctor is `leasehold doctor`.
func (a *app) newDoctor() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "look whether this machine has what is needed, and say what to do",
		Long: `Look whether this machine has what is needed: a data folder that can be written,
room, open files, a clock, and decoders of sound. The exit code is 1 if a check failed;
warnings are things that work less well.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	config.BindFlags(c.Flags(), "data")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := a.load(c)
		if err != nil {
			return err
		}
		found := doctor.Examine(c.Context(), doctor.Folders{Data: cfg.Data})
		if err := show(a, o, examRows(found), "nothing was checked"); err != nil {
			return err
		}
		if doctor.Failed(found) {
			return errors.Join(errSaid, fault.ErrInvalid)
		}
		return nil
	}
	return c
}

// examRow is a check as it is printed (docs/json.md).
type examRow struct {
	Check  string       `json:"check"`
	State  doctor.State `json:"state"`
	What   string       `json:"what"`
	Advice string       `json:"advice,omitempty"`
}

func (r examRow) columns() []column {
	return []column{
		{head: "check", cell: r.Check}, {head: "state", cell: string(r.State)}, {head: "what", cell: r.What}, {head: "what to do", cell: r.Advice},
	}
}

func examRows(found []doctor.Finding) []examRow {
	rows := make([]examRow, len(found))
	for i, f := range found {
		rows[i] = examRow(f)
	}
	return rows
}
