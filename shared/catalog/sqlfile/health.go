package sqlfile

import (
	"errors"
	"fmt"
	"time"

	"leasehold/shared/process/retry"
)

// failure is why writes fail, with an error that can pass, and since when.
type failure struct {
	err   error
	since time.Time
}

// noteFailure notes the result of a write for Health.
func (f *File) noteFailure(err error) {
	last := f.failing.Load()
	switch {
	case !retry.CanPass(err):
		f.failing.Store(nil)
	case last == nil:
		f.failing.Store(&failure{err, time.Now()})
	default:
		f.failing.Store(&failure{err, last.since})
	}
}

// errProbe ends the transaction of Health, so that it writes nothing.
var errProbe = errors.New("nothing is written")

// Health returns nil if the file can be written, and otherwise why not and since when, with the kind of the error of
// Write: fault.ErrUnavailable or fault.ErrOverloaded. If no call writes now, it tries to, and waits for no lock.
func (f *File) Health() error {
	select {
	case <-f.turn:
		_, err := f.useWriter(background, "health", func(c *Conn) error {
			if err := c.runPragmas("busy_timeout=0"); err != nil {
				return err
			}
			return errors.Join(c.inTransaction("BEGIN IMMEDIATE", func(*Conn) error { return errProbe }), c.runPragmas(busyTimeout))
		})
		if err != nil && !errors.Is(err, errProbe) && !retry.CanPass(err) {
			return err
		}
	default: // the writer is in use
	}
	if last := f.failing.Load(); last != nil {
		return fmt.Errorf("the %s cannot be written since %s: %w", f.name, last.since.UTC().Format(time.RFC3339), last.err)
	}
	return nil
}
