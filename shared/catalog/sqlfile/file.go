package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Memory is the path of a database in memory, which is not kept.
const Memory = ":memory:"

const (
	// maxReaders is how many callers read at a time; more wait.
	maxReaders = 4
	// checkpointBytes is by how much the log grows before it is written back. A page that
	// changes often is written back once each time, so a larger log writes less: a list of
	// 50,000 origins 1.04 kB for each with 16 MB, and 1.00 with 32, as with a larger one.
	// Opening a file after a kill reads all of the log.
	checkpointBytes = 32 << 20
)

var _ sqldb.Database = (*File)(nil)

// File is an open file. All methods may be called concurrently.
type File struct {
	name, path string
	lock       *os.File
	db         *sql.DB
	conns      []*sqldb.Conn // all of them, to close
	turn       chan struct{} // holds one token; its holder may use the fields below
	writer     *sqldb.Conn
	closed     bool
	logLimit   int64         // bytes of the log at which it is written back
	longest    time.Duration // that a transaction kept the writer
	emptied    int           // how often all of the log was written back

	failing sqldb.WriteFailure

	readers chan *sqldb.Conn // those that are free; nil for Memory
	done    chan struct{}    // closed by Close

	checks    []sqldb.Check
	examining chan struct{} // holds a value while Examine runs
}

// Open opens the file at path and creates it if it does not exist. errors.Is finds
// fault.ErrConflict when another handle or process holds it, fault.ErrCorrupt when it is damaged or
// not of this format, fault.ErrInvalid when a newer program wrote it, and fault.ErrOverloaded when
// the disk is full; an error of the system has no kind.
func Open(ctx context.Context, path string, format Format) (*File, error) {
	f := &File{name: format.Name, path: path, turn: make(chan struct{}, 1), done: make(chan struct{}), logLimit: checkpointBytes, checks: format.checks(), examining: make(chan struct{}, 1)}
	if err := f.open(ctx, format); err != nil {
		return nil, errors.Join(classifyOpening(err), f.release())
	}
	f.turn <- struct{}{}
	return f, nil
}

// open opens the file and brings it to the newest version of format. It looks at the file before it writes
// anything, because a foreign file must stay as it is. After an error the caller releases what was opened.
func (f *File) open(ctx context.Context, format Format) error {
	name, err := f.dataSource()
	if err != nil {
		return err
	}
	if f.db, err = sql.Open("sqlite", name); err != nil {
		return err
	}
	f.db.SetMaxOpenConns(1 + maxReaders + 1) // the last one for Examine
	if f.writer, err = f.connect(ctx, format.Pragmas...); err != nil {
		return err
	}
	if err := checkOurs(f.writer, format); err != nil {
		return err
	}
	if err := runPragmas(f.writer, "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0"); err != nil {
		return err
	}
	if err := f.migrate(format); err != nil || f.path == Memory {
		return err
	}
	f.emptyLog() // that a process which was killed has left
	f.readers = make(chan *sqldb.Conn, maxReaders)
	for range maxReaders {
		c, err := f.connect(ctx, append(slices.Clone(format.Pragmas), "query_only=ON", "cache_size=-8192")...) // KiB
		if err != nil {
			return err
		}
		f.readers <- c
	}
	return nil
}

// dataSource locks the file, unless it is Memory, and returns the name by which SQLite opens it.
func (f *File) dataSource() (string, error) {
	if f.path == Memory {
		return f.path, nil
	}
	abs, err := filepath.Abs(f.path)
	if err != nil {
		return "", err
	}
	f.path = abs
	if f.lock, err = os.OpenFile(abs+"-lock", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return "", err
	}
	locked, err := platform.LockFile(f.lock)
	if err == nil && !locked {
		return "", fmt.Errorf("%w: another process or handle holds it", fault.ErrConflict)
	}
	return platform.FileURI(abs).String(), err
}

// busyTimeout is how long SQLite waits for a lock of another program, in milliseconds.
const busyTimeout = "busy_timeout=5000"

// background is what statements run under that no call of a caller needs.
var background = context.Background()

// beginWrite begins a transaction that writes, for which it waits at once, so that no statement in it waits.
const beginWrite = "BEGIN IMMEDIATE"

// runPragmas executes pragmas, without the word PRAGMA, until one fails, and returns its error.
func runPragmas(c *sqldb.Conn, all ...string) error {
	for _, p := range all {
		if err := c.Script("PRAGMA " + p); err != nil {
			return err
		}
	}
	return nil
}

// connect opens a connection, which release closes.
func (f *File) connect(ctx context.Context, pragmas ...string) (*sqldb.Conn, error) {
	conn, err := f.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := sqldb.NewConn(conn, sqldb.Dialect{KeepsKey: true})
	f.conns = append(f.conns, c)
	// SQLite is busy only while a log is recovered or begun again, or while a foreign program reads the file.
	return c, runPragmas(c, append([]string{busyTimeout}, pragmas...)...)
}

// Close waits for calls under way, writes the log back, and gives up the file. A second Close
// returns nil. The error is as of Open.
func (f *File) Close() error {
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	if f.closed {
		return nil
	}
	f.closed = true
	close(f.done)
	for range cap(f.readers) {
		<-f.readers
	}
	f.examining <- struct{}{} // its owner ends it by its context
	return classify(f.release())
}

// release closes what was opened. It returns all errors, joined.
func (f *File) release() error {
	var errs []error
	for _, c := range f.conns {
		errs = append(errs, c.Close())
	}
	if f.db != nil {
		errs = append(errs, f.db.Close())
	}
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}

// Read implements sqldb.Database.
func (f *File) Read(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	if f.readers == nil {
		return f.Write(ctx, op, do)
	}
	return f.withReader(ctx, op, func(c *sqldb.Conn) error { return c.InTransaction("BEGIN", do) })
}

// withReader calls do with a free reader, for which it waits. op is the prefix of errors. After Close it returns
// fault.ErrClosed.
func (f *File) withReader(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	var c *sqldb.Conn
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-f.done:
		return fmt.Errorf("%s: the %s is %w", op, f.name, fault.ErrClosed)
	case c = <-f.readers:
	}
	defer func() { f.readers <- c }()
	defer c.Serve(context.WithoutCancel(ctx))()
	return wrap(op, do(c))
}

// Write implements sqldb.Database.
func (f *File) Write(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	return f.withWriter(ctx, op, func(c *sqldb.Conn) error { return c.InTransaction(beginWrite, do) })
}

// Note implements sqldb.Database.
func (f *File) Note(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	return f.withWriter(ctx, op, func(c *sqldb.Conn) error {
		if err := runPragmas(c, "synchronous=NORMAL"); err != nil {
			return err
		}
		return errors.Join(c.InTransaction(beginWrite, do), runPragmas(c, "synchronous=FULL"))
	})
}

// Steps implements sqldb.Database.
func (f *File) Steps(ctx context.Context, op string, next func(*sqldb.Conn) (done bool, err error)) error {
	return sqldb.StepsOf(ctx, f, op, sqldb.StepTime, next)
}

// StepsOf implements sqldb.Database.
func (f *File) StepsOf(ctx context.Context, op string, length time.Duration, next func(*sqldb.Conn) (done bool, err error)) error {
	return sqldb.StepsOf(ctx, f, op, length, next)
}

// withWriter calls do with the writer, for which it waits, and then writes the log back if it has become long. op
// is the prefix of errors.
func (f *File) withWriter(ctx context.Context, op string, do func(*sqldb.Conn) error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-f.turn:
	}
	long, err := f.useWriter(ctx, op, do)
	if long {
		f.writeLogBack(ctx)
	}
	return err
}

// useWriter calls do with the writer. long reports whether the log has become long, so that the caller must write
// it back; a file in memory has no log. The limit is then raised, because the log cannot be begun again while a
// reader needs it, and not each commit should try. The caller has the turn; useWriter gives it back. After Close
// it returns fault.ErrClosed.
func (f *File) useWriter(ctx context.Context, op string, do func(*sqldb.Conn) error) (long bool, err error) {
	defer func() { f.turn <- struct{}{} }()
	if f.closed {
		return false, fmt.Errorf("%s: the %s is %w", op, f.name, fault.ErrClosed)
	}
	if ctx.Err() != nil {
		return false, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	defer f.writer.Serve(context.WithoutCancel(ctx))()
	began := time.Now()
	err = wrap(op, do(f.writer))
	f.failing.Note(err)
	f.longest = max(f.longest, time.Since(began))
	if f.readers == nil { // in memory
		return false, err
	}
	log, statErr := os.Stat(f.path + "-wal")
	if statErr != nil || log.Size() < f.logLimit {
		return false, err
	}
	f.logLimit = log.Size() + checkpointBytes
	return true, err
}

// writeLogBack copies the log into the file while others write, and then, if no reader
// needs it any more, begins it again. Errors are left to the next attempt, since the
// log holds what could not be copied.
func (f *File) writeLogBack(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	err := f.withReader(ctx, "write the log back", func(c *sqldb.Conn) error { return c.Script("PRAGMA wal_checkpoint(PASSIVE)") })
	if err != nil {
		return
	}
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	if f.closed {
		return
	}
	began := time.Now()
	defer func() { f.longest = max(f.longest, time.Since(began)) }()
	f.emptyLog()
}

// emptyLog copies the log into the file, and begins it again if no reader needs it. The
// caller has the turn, or is open. Errors are left to the next attempt.
func (f *File) emptyLog() {
	// With a busy timeout the writer would be kept until the last reader is done.
	if runPragmas(f.writer, "busy_timeout=0", "wal_checkpoint(TRUNCATE)", "busy_timeout=5000") != nil {
		return
	}
	log, err := os.Stat(f.path + "-wal")
	if err != nil {
		return
	}
	f.logLimit = log.Size() + checkpointBytes
	if log.Size() == 0 {
		f.emptied++
	}
}

// LogEmptied returns how often since Open all that was written was in the file itself, not
// only in its log.
func (f *File) LogEmptied() int {
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	return f.emptied
}

// LongestWrite implements sqldb.Database.
func (f *File) LongestWrite() time.Duration {
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	return f.longest
}

// Copy writes what the file holds to a new file at path, as of one moment, while others read and
// write. It fails if there is a file at path. Errors are as in Write.
func (f *File) Copy(ctx context.Context, path string) error {
	op := fmt.Sprintf("copy the %s to %s", f.name, path)
	vacuum := func(c *sqldb.Conn) error { // query_only, which readers have on, would refuse to write the copy
		return errors.Join(runPragmas(c, "query_only=OFF"), c.Exec("VACUUM INTO ?", path))
	}
	if f.readers == nil {
		return f.withWriter(ctx, op, vacuum)
	}
	return f.withReader(ctx, op, func(c *sqldb.Conn) error { return errors.Join(vacuum(c), runPragmas(c, "query_only=ON")) })
}

// wrap adds the operation and the kind to an error of a call; nil stays nil.
func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, classifyCall(err))
}
