package sqldb

import (
	"context"
	"time"
)

// Database runs transactions. All methods may be called concurrently.
type Database interface {
	// Read runs do on a snapshot: the last commit when do begins. What it returns is wrapped with op, and has a kind of
	// package fault where the database gave the reason: fault.ErrCorrupt, fault.ErrUnavailable if a later call may
	// succeed, fault.ErrClosed after Close. If ctx ends while it waits for a connection, the error is the cause of ctx.
	Read(ctx context.Context, op string, do func(*Conn) error) error
	// Write runs do in one transaction, which is durable when Write returns nil. Errors are as in Read, and
	// fault.ErrOverloaded when the disk is full.
	Write(ctx context.Context, op string, do func(*Conn) error) error
	// Note is Write of something that may be lost when the machine of the database stops, and that therefore does not
	// wait for its disk. Errors are as in Write.
	Note(ctx context.Context, op string, do func(*Conn) error) error
	// Steps calls next until it reports that it is done, in as many transactions as that takes, because no transaction
	// may keep the writer for long. Others write in between. Errors are as in Write. When Steps returns an error, the
	// transactions before the last one stay: the caller must be able to begin again.
	Steps(ctx context.Context, op string, next func(*Conn) (done bool, err error)) error
	// StepsOf is Steps with transactions that work for length: next is called until it reports done, as often as fits
	// into each. The longer a transaction is, the less is written, because each writes every page that it changes once.
	// Errors are as in Steps.
	StepsOf(ctx context.Context, op string, length time.Duration, next func(*Conn) (done bool, err error)) error
	// Health returns nil if the database can be written, and otherwise why not and since when, with the kind of the
	// error of Write: fault.ErrUnavailable or fault.ErrOverloaded. If no call writes now, it tries to.
	Health() error
	// Examine reads all of the database and lists the damage, at most MostDamage lines. Others read and write meanwhile.
	// The end of ctx ends it, with its cause.
	Examine(ctx context.Context) (damage []string, err error)
	// LongestWrite is the longest time since the opening for which one transaction kept the writer.
	LongestWrite() time.Duration
	// Close waits for calls under way and gives up the database. A second Close returns nil.
	Close() error
}

const (
	// StepTime is how long one transaction of Database.Steps works before it commits.
	StepTime = 5 * time.Millisecond
	// maxSteps is how many steps a transaction takes at most.
	maxSteps = 1000
)

// StepsOf is Database.StepsOf by its Write, for drivers.
func StepsOf(ctx context.Context, d Database, op string, length time.Duration, next func(*Conn) (done bool, err error)) error {
	for done := false; !done; {
		err := d.Write(ctx, op, func(c *Conn) (err error) {
			began := time.Now()
			for n := 0; !done && err == nil && n < maxSteps && time.Since(began) < length; n++ {
				done, err = next(c)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
