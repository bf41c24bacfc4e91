package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
	"leasehold/shared/space/journal"
)

var _ journal.Owned = (*Journal)(nil)

// Journal is a journal.Owned in a database. It may be used concurrently.
type Journal struct {
	config  Config
	connect *pgx.ConnConfig
	pool    *pgxpool.Pool // for all but commits

	turn  chan struct{} // holds one element while a caller uses owned: see take
	owned owned

	epoch   atomic.Uint64 // of this process; 0: not claimed
	seen    atomic.Int64  // the epoch that Watch saw; negative: Watch has not returned
	backlog backlog

	life       context.Context // its cause is why the journal must not be used: deposed or closed
	endLife    context.CancelCauseFunc
	background sync.WaitGroup

	mu     sync.Mutex // guards what follows
	writer *writer    // nil before Claim
	kept   bool       // the background has begun
}

// maxReaders is how many connections a journal has for everything but commits.
const maxReaders = 4

// Open connects to the database and brings the tables of the realm to the version of this program. The caller owns
// nothing yet: Claim does that. Kinds of errors: fault.ErrInvalid for a configuration that cannot be right and for a
// format that this program does not read, fault.ErrUnauthenticated, fault.ErrPermission, fault.ErrCorrupt, and
// fault.ErrUnavailable if the database does not answer or is read-only, which may pass.
func Open(ctx context.Context, c Config) (*Journal, error) {
	c.complete()
	connect, err := c.parse()
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &Journal{config: c, connect: connect, turn: make(chan struct{}, 1)}
	j.life, j.endLife = context.WithCancelCause(context.Background())
	j.seen.Store(-1)
	if err := j.open(ctx); err != nil {
		return nil, j.named(err)
	}
	return j, nil
}

// open opens the pool and the tables.
func (j *Journal) open(ctx context.Context) (err error) {
	if j.pool, err = pgrealm.Pool(ctx, j.connect, maxReaders); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{j.checkFormat, j.migrate, j.begin} {
		if err := step(ctx); err != nil {
			j.pool.Close()
			return err
		}
	}
	return nil
}

// begin makes the rows of a realm that is new.
func (j *Journal) begin(ctx context.Context) error {
	for _, sql := range []string{
		fmt.Sprintf("INSERT INTO realm (format) VALUES (%d) ON CONFLICT DO NOTHING", NewestFormat),
		"INSERT INTO owner DEFAULT VALUES ON CONFLICT DO NOTHING",
	} {
		if _, err := j.pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// named adds to an error what it is about and its kind, and removes the password.
func (j *Journal) named(err error) error {
	if done := (*realmError)(nil); err == nil || errors.As(err, &done) {
		return err
	}
	err = classify(err)
	text := fmt.Sprintf("journal of the realm %s: %v", j.config.Realm, err)
	if p := j.connect.Password; p != "" {
		text = strings.ReplaceAll(text, p, "xxxxx")
	}
	return &realmError{text, err}
}

// realmError is an error of a journal. Its text has no password.
type realmError struct {
	text string
	err  error
}

func (e *realmError) Error() string { return e.text }
func (e *realmError) Unwrap() error { return e.err }

// usable returns why the journal cannot be used: journal.ErrDeposed or fault.ErrClosed; nil if it can.
func (j *Journal) usable() error { return context.Cause(j.life) }

// end makes err the end of the journal, unless it has ended already, and returns how it ended. It breaks the
// connection of the owner, so that a commit which waits for the network returns.
func (j *Journal) end(err error) error {
	j.endLife(err)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.writer != nil {
		j.writer.sever()
	}
	return j.usable()
}

// Lost is closed once the journal is deposed or closed, also while nothing is committed.
func (j *Journal) Lost() <-chan struct{} { return j.life.Done() }

// closing is how long Close waits for the database.
const closing = 5 * time.Second

// Close implements journal.Journal. An owner that was not deposed releases the journal first, so that a standby
// claims it at once. If that fails, Close returns nil, and the standby waits. Another call does nothing.
func (j *Journal) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if err := j.release(ctx); err != nil {
		j.config.Log.Warn("the journal was not released; a standby takes over later", "realm", j.config.Realm, "error", j.named(err))
	}
	_ = j.end(j.named(fault.ErrClosed))
	j.background.Wait()
	j.mu.Lock()
	w := j.writer
	j.mu.Unlock()
	if w != nil {
		w.close()
	}
	j.pool.Close()
	return nil
}
