package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"leasehold/shared/backup"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
)

// newBackup is `leasehold backup`.
func (a *app) newBackup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup DEST",
		Short: "copy the spaces and the catalog to DEST, also while a coordinator runs",
		Long: `Copy the spaces and the catalog to the new folder DEST: first the spaces, then the
catalog, so that what a restored coordinator repeats changes nothing. DEST is there
whole or not at all. The cache is not copied: it is fetched again.

A running coordinator makes the backup itself, so DEST is on its machine.`,
		Args: cobra.ExactArgs(1),
		RunE: a.atShelf(func(ctx context.Context, s *shelf, args []string) error {
			dest, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("backup: %w: %w", fault.ErrInvalid, err)
			}
			if s.house == nil {
				err = s.api.Backup(ctx, dest)
			} else {
				err = s.house.backup(ctx, dest)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "backup: %s\n", dest)
			return err
		}),
	}
	config.BindFlags(c.Flags(), append([]string{"journal"}, shelfKeys...)...)
	return c
}

// backup copies a data folder that only this process has.
func (h *house) backup(ctx context.Context, dest string) (err error) {
	spaces, err := h.openJournal()
	if err != nil {
		return err
	}
	return errors.Join(h.copyTo(ctx, spaces, dest), spaces.Close())
}

// copyTo makes a backup, also while spaces and the catalog are used.
func (h *house) copyTo(ctx context.Context, spaces journal.Journal, dest string) error {
	j, ok := spaces.(journal.Copier)
	if !ok {
		return fmt.Errorf("backup: %w: the spaces are in memory only (journal is %s)", fault.ErrInvalid, h.cfg.Journal)
	}
	return backup.Make(ctx, dest, backup.Part{Name: journalDir, Copy: j.Copy}, backup.Part{Name: catalogFile, Copy: h.store.Copy})
}

// backupTo makes a backup of a coordinator that runs.
func (w *crew) backupTo(ctx context.Context, dest string) error {
	return w.copyTo(ctx, w.spaces, dest)
}
