package pgsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
	"leasehold/shared/process/retry"
)

const (
	// maxReaders is how many callers read at a time; more wait.
	maxReaders = 4
	// stepTime is how long one transaction of Steps works before it commits. A statement crosses the network, so fewer
	// fit into a transaction than in a file.
	stepTime = 20 * time.Millisecond

	// Time limits of transactions, after which the connection is closed.
	writeTime  = 30 * time.Second
	readTime   = 5 * time.Minute
	healthTime = 5 * time.Second
	// closeTime is how long Close waits for calls under way before it interrupts them.
	closeTime = 5 * time.Second
)

const (
	beginRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	beginWrite = "BEGIN"
)

// Database is an open realm. All methods may be called concurrently.
type Database struct {
	name      string
	db        *sql.DB
	guard     func(*sqldb.Conn) error
	checks    []sqldb.Check
	life      context.Context // ends when Close interrupts calls
	interrupt context.CancelFunc

	turn    chan struct{} // holds one token; its holder may use the fields below
	writer  *link
	closed  bool
	longest time.Duration // that a transaction kept the writer

	failing sqldb.WriteFailure

	readers   chan *link    // those that are free
	done      chan struct{} // closed by Close
	examining chan struct{} // holds a value while Examine runs
}

var _ sqldb.Database = (*Database)(nil)

// Open opens a realm, and makes its tables if they do not exist. errors.Is finds fault.ErrUnavailable when the server
// cannot be reached or cannot be written, and fault.ErrInvalid for a wrong option and for tables that a newer program
// wrote; an error of Guard is returned, if there is something to migrate.
func Open(ctx context.Context, o Options) (*Database, error) {
	d, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("realm %s: %w", o.Realm, pgrealm.Classify(err))
	}
	return d, nil
}

func open(ctx context.Context, o Options) (*Database, error) {
	config, err := o.config()
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxIdleConns(-1)                 // links keep them
	db.SetMaxOpenConns(1 + maxReaders + 1) // the last one for Examine
	d := &Database{name: o.Name, db: db, guard: o.Guard, turn: make(chan struct{}, 1), writer: &link{db: db},
		readers: make(chan *link, maxReaders), done: make(chan struct{}), examining: make(chan struct{}, 1)}
	d.life, d.interrupt = context.WithCancel(context.Background())
	for _, s := range o.Schemas {
		d.checks = append(d.checks, s.Checks...)
	}
	for range maxReaders {
		d.readers <- &link{db: db}
	}
	d.turn <- struct{}{}
	if err := d.migrate(ctx, o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close waits for calls under way, interrupts those that take longer than 5 s, and closes all connections. A second
// Close returns nil.
func (d *Database) Close() error {
	defer time.AfterFunc(closeTime, d.interrupt).Stop()
	<-d.turn
	defer func() { d.turn <- struct{}{} }()
	if d.closed {
		return nil
	}
	d.closed = true
	close(d.done)
	d.writer.drop()
	for range maxReaders {
		(<-d.readers).drop()
	}
	d.examining <- struct{}{} // its owner ends it by its context
	d.interrupt()
	return d.db.Close()
}

// limited returns the context of the statements of a call, which ends after length, or when Close interrupts the call.
func (d *Database) limited(ctx context.Context, length time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), length)
	stop := context.AfterFunc(d.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// Read implements sqldb.Database.
func (d *Database) Read(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	var l *link
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-d.done:
		return fmt.Errorf("%s: the %s is %w", op, d.name, fault.ErrClosed)
	case l = <-d.readers:
	}
	defer func() { d.readers <- l }()
	ctx, cancel := d.limited(ctx, readTime)
	defer cancel()
	return wrap(op, l.run(ctx, beginRead, do))
}

// Write implements sqldb.Database.
func (d *Database) Write(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	return d.write(ctx, op, do)
}

// Note implements sqldb.Database.
func (d *Database) Note(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	return d.write(ctx, op, func(c *sqldb.Conn) error {
		if err := c.Script("SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		return do(c)
	})
}

// Steps implements sqldb.Database.
func (d *Database) Steps(ctx context.Context, op string, next func(*sqldb.Conn) (done bool, err error)) error {
	return sqldb.StepsOf(ctx, d, op, stepTime, next)
}

// StepsOf implements sqldb.Database.
func (d *Database) StepsOf(ctx context.Context, op string, length time.Duration, next func(*sqldb.Conn) (done bool, err error)) error {
	return sqldb.StepsOf(ctx, d, op, length, next)
}

// write waits for the writer and runs do in a transaction, after the guard.
func (d *Database) write(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-d.turn:
	}
	return d.useWriter(ctx, op, writeTime, do)
}

// useWriter runs do in a transaction of the writer, after the guard. The caller has the turn; useWriter gives it back.
// After Close it returns fault.ErrClosed.
func (d *Database) useWriter(ctx context.Context, op string, length time.Duration, do func(*sqldb.Conn) error) error {
	defer func() { d.turn <- struct{}{} }()
	if d.closed {
		return fmt.Errorf("%s: the %s is %w", op, d.name, fault.ErrClosed)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	ctx, cancel := d.limited(ctx, length)
	defer cancel()
	began := time.Now()
	err := wrap(op, d.writer.run(ctx, beginWrite, func(c *sqldb.Conn) error {
		if d.guard != nil {
			if err := d.guard(c); err != nil {
				return err
			}
		}
		return do(c)
	}))
	d.failing.Note(err)
	d.longest = max(d.longest, time.Since(began))
	return err
}

// errProbe ends the transaction of Health, so that it writes nothing.
var errProbe = errors.New("nothing is written")

// Health implements sqldb.Database. It waits at most 5 s for the server.
func (d *Database) Health() error {
	select {
	case <-d.turn:
		err := d.useWriter(context.Background(), "health", healthTime, func(c *sqldb.Conn) error {
			readOnly, err := c.Number("SELECT count(*) WHERE current_setting('transaction_read_only') = 'on'")
			if err == nil && readOnly > 0 {
				err = fmt.Errorf("%w: the database is read-only", fault.ErrUnavailable)
			}
			return errors.Join(err, errProbe)
		})
		if err != nil && !errors.Is(err, errProbe) && !retry.CanPass(err) {
			return err
		}
	default: // the writer is in use
	}
	return d.failing.Err(d.name)
}

// LongestWrite implements sqldb.Database.
func (d *Database) LongestWrite() time.Duration {
	<-d.turn
	defer func() { d.turn <- struct{}{} }()
	return d.longest
}

// Examine implements sqldb.Database: it runs the checks of the schemas, because PostgreSQL keeps its own.
func (d *Database) Examine(ctx context.Context) (damage []string, err error) {
	const op = "examine the database"
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-d.done:
		return nil, fmt.Errorf("%s: the %s is %w", op, d.name, fault.ErrClosed)
	case d.examining <- struct{}{}:
	}
	defer func() { <-d.examining }()
	conn, err := d.db.Conn(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", op, pgrealm.Unavailable(err))
	}
	defer conn.Close() // it may be lost
	if _, err = conn.ExecContext(ctx, "SET default_transaction_read_only = on"); err == nil {
		damage, err = sqldb.Examine(ctx, conn, sqldb.PostgreSQL, d.checks, pgrealm.Classify)
	}
	return damage, wrap(op, err)
}

// wrap adds the operation and the kind to an error of a call; nil stays nil.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, pgrealm.Classify(err))
}
