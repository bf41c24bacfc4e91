package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

// newRepair is `leasehold repair`.
func (a *app) newRepair() *cobra.Command {
	apply := false
	c := &cobra.Command{
		Use:   "repair",
		Short: "check the database and the journal, and repair the journal",
		Long: `Read the database and the journal of the data folder and print what is damaged,
and how many tuples a repair of the journal would keep and lose. Without
--apply, nothing is changed. A damaged database is not repaired; restore a
backup.

--apply writes everything that can be read to a new journal and keeps the
damaged one in a folder beside it. Nothing is lost if only the list of files
(MANIFEST) is damaged. In a damaged log, only the damaged records are lost:
tuples that they put are missing, and tuples that they took are back. If a table
is damaged or missing, the journal cannot be repaired; restore a backup.

The exit code is 0 if the database is intact, and the journal is intact or was
repaired, else 65.`,
		Args: cobra.NoArgs,
		RunE: a.withConfig(func(ctx context.Context, cfg config.Config) error {
			err := a.repairJournal(cfg, apply)
			if err != nil && !errors.Is(err, fault.ErrCorrupt) {
				return err
			}
			return errors.Join(err, a.examineDatabase(ctx, cfg))
		}),
	}
	c.Flags().BoolVar(&apply, "apply", false, "repair the journal, and do not only print what is damaged")
	config.BindFlags(c.Flags(), "data")
	return c
}

// repairJournal prints the damage of the journal and, with apply, repairs it. Damage that stays is
// fault.ErrCorrupt.
func (a *app) repairJournal(cfg config.Config, apply bool) error {
	found, err := node.Repair(cfg, a.newLogger(cfg), apply)
	if err != nil {
		return err
	}
	if err := printDiagnosis(a.out, found); err != nil || found.Damage == "" || apply {
		return err
	}
	return fmt.Errorf("the journal is damaged: %w; to repair it: leasehold repair --apply --data %s", fault.ErrCorrupt, cfg.Data)
}

// examineDatabase prints the damage of the database, and fails with fault.ErrCorrupt if there is any. A folder
// without a database has none.
func (a *app) examineDatabase(ctx context.Context, cfg config.Config) error {
	damage, err := node.ExamineDatabase(ctx, cfg)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(damage) == 0 {
		_, err := fmt.Fprintln(a.out, "the database is undamaged")
		return err
	}
	for _, line := range damage {
		sayf(a.out, "damage of the database: %s\n", line)
	}
	return fmt.Errorf("the database is damaged: %w; restore a backup", fault.ErrCorrupt)
}

// printDiagnosis prints the state of a journal, and what a repair would keep and lose or, if
// d.Copy is set, kept and lost. The error is one of writing.
func printDiagnosis(w io.Writer, d pebble.Diagnosis) error {
	at := "unknown"
	if !d.At.IsZero() {
		at = d.At.UTC().Format(time.RFC3339)
	}
	kept := fmt.Sprintf("%s; last record: position %d, time %s", count(d.Tuples, "tuple"), d.Kept, at)
	if d.Damage == "" {
		_, err := sayf(w, "the journal is undamaged: %s\n", kept)
		return err
	}
	keep, lose := "would keep", "would lose"
	if d.Copy != "" {
		keep, lose = "kept", "lost"
	}
	if _, err := sayf(w, "damage: %s\n%s: %s\n", d.Damage, keep, kept); err != nil {
		return err
	}
	for _, g := range d.Gaps {
		if _, err := sayf(w, "%s: %s behind position %d, which may have put and taken tuples\n", lose, count(int(g.To-g.From), "record"), g.From); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s: at most %s", lose, count(d.LostTuples, "tuple"))
	if d.Open {
		text = fmt.Sprintf("%s: all records behind position %d; their number is unknown", lose, d.Kept)
	}
	if d.Copy != "" {
		text += "\ndamaged journal: " + d.Copy
	}
	_, err := fmt.Fprintln(w, printableLines(text))
	return err
}
