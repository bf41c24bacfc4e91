package realm

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
)

// FinishUpgrade raises the format of the realm to the newest one that a member of the list reads, for the owner of an
// epoch, and returns the format that the realm has then. If other members do not read it, it fails with
// fault.ErrConflict, names them and changes nothing. Members of an older version cannot join from then on. The content of the
// realm stays as it was written.
func (r *Realm) FinishUpgrade(ctx context.Context, epoch uint64) (format int, err error) {
	ctx, done := r.limited(ctx, longTime)
	defer done()
	err = r.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE member IN SHARE ROW EXCLUSIVE MODE`); err != nil { // Join waits
			return err
		}
		all, err := membersOf(ctx, tx)
		if err != nil {
			return err
		}
		if format, err = formatOf(ctx, tx); err != nil {
			return err
		}
		for _, m := range all {
			format = max(format, m.Format)
		}
		if err := requireReaders(all, format); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE realm SET format = $1 WHERE format < $1`, format)
		return err
	})
	return format, err
}

// requireReaders fails with fault.ErrConflict if members do not read a format.
func requireReaders(all []Member, format int) error {
	var behind []string
	for _, m := range all {
		if m.Format < format {
			behind = append(behind, fmt.Sprintf("%s (version %s)", m.Name, m.Version))
		}
	}
	if behind == nil {
		return nil
	}
	return fmt.Errorf("these members do not read format %d: %s: %w: replace them by the newer version first", format, strings.Join(behind, ", "), fault.ErrConflict)
}

func formatOf(ctx context.Context, tx pgx.Tx) (format int, err error) {
	err = tx.QueryRow(ctx, `SELECT format FROM realm`).Scan(&format)
	return format, err
}
