package sqlfile

import (
	"errors"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/process/retry"
)

// errProbe ends the transaction of Health, so that it writes nothing.
var errProbe = errors.New("nothing is written")

// Health implements sqldb.Database. It waits for no lock.
func (f *File) Health() error {
	select {
	case <-f.turn:
		_, err := f.useWriter(background, "health", func(c *sqldb.Conn) error {
			if err := runPragmas(c, "busy_timeout=0"); err != nil {
				return err
			}
			return errors.Join(c.InTransaction(beginWrite, func(*sqldb.Conn) error { return errProbe }), runPragmas(c, busyTimeout))
		})
		if err != nil && !errors.Is(err, errProbe) && !retry.CanPass(err) {
			return err
		}
	default: // the writer is in use
	}
	return f.failing.Err(f.name)
}
