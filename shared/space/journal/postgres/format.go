package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
)

// Formats of a realm. A realm has one format, which is about everything in its schema: the tables of this package and
// those that others keep there. Members of two adjacent versions of the program share a realm; the newer one reads the
// format of the older one, and writes it until the format is raised to NewestFormat. Raise newestFormat with each change
// that a member of the version before could not read, codec.Version among them, and write the new form only while
// Journal.Format returns the newer one.
const (
	firstFormat  = 4
	newestFormat = 4

	// NewestFormat and OldestFormat are the formats that this program reads and writes.
	NewestFormat = newestFormat + raised
	OldestFormat = max(firstFormat, NewestFormat-1)
)

// Format reads the format of the realm.
func (j *Journal) Format(ctx context.Context) (format int, err error) {
	err = j.pool.QueryRow(ctx, "SELECT format FROM realm").Scan(&format)
	return format, j.named(err)
}

// checkFormat refuses a realm that this program does not read. A realm that is being made has no format.
func (j *Journal) checkFormat(ctx context.Context) error {
	var exists bool
	if err := j.pool.QueryRow(ctx, "SELECT to_regclass('realm') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return err
	}
	format, err := j.Format(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return CheckFormat(format)
}

// CheckFormat returns fault.ErrInvalid, with what to do, for a format of a realm that this program does not read.
func CheckFormat(format int) error {
	reads := fmt.Sprint("format ", NewestFormat)
	if OldestFormat < NewestFormat {
		reads = fmt.Sprintf("formats %d and %d", OldestFormat, NewestFormat)
	}
	switch {
	case format > NewestFormat:
		return fmt.Errorf("the realm has format %d, this program reads %s: use a newer leasehold: %w", format, reads, fault.ErrInvalid)
	case format < OldestFormat:
		return fmt.Errorf("the realm has format %d, this program reads %s: use an older leasehold, and upgrade one version after the other (docs/upgrade.md): %w", format, reads, fault.ErrInvalid)
	}
	return nil
}
