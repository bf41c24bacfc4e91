package realm

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
)

// maxConnections is how many connections a Realm uses at a time. Few are enough, because it does little.
const maxConnections = 2

// The time limits of calls. Then a connection is given up, because the network may have dropped it silently. Signs of
// life, and what a member reads about the others, have the short one, because clients are led by them.
const (
	shortTime = 5 * time.Second
	longTime  = time.Minute
)

// Realm is an open realm. Its methods may be called concurrently.
type Realm struct {
	Name string
	pool *pgxpool.Pool
}

// tables makes the tables. It may be run again. Members of the version before use them too, so a later addition is a
// table, or a column that may be NULL or has a default (ALTER TABLE … ADD COLUMN IF NOT EXISTS).
const tables = `
CREATE SCHEMA IF NOT EXISTS %[1]s;
CREATE TABLE IF NOT EXISTS %[1]s.member (
	name     text COLLATE "C" PRIMARY KEY,
	instance text NOT NULL,               -- of the process, random
	gate     text NOT NULL,               -- addresses, with commas between them
	api      text NOT NULL,               -- URL
	version  text NOT NULL,
	format   integer NOT NULL,            -- the newest one that it reads
	since    timestamptz NOT NULL,        -- of this instance
	seen     timestamptz NOT NULL         -- its latest sign of life, by the clock of the database
);
CREATE TABLE IF NOT EXISTS %[1]s.identity (
	name    text COLLATE "C" PRIMARY KEY, -- of a file
	content bytea NOT NULL
);
CREATE TABLE IF NOT EXISTS %[1]s.place (
	one      boolean PRIMARY KEY CHECK (one),
	system   bigint NOT NULL,             -- identifier of the cluster of PostgreSQL
	database bigint NOT NULL              -- oid of the database
);
CREATE TABLE IF NOT EXISTS %[1]s.index_file (
	name    text COLLATE "C" PRIMARY KEY, -- of a segment, or of a generation of a repository
	repo_id bytea NOT NULL,               -- of a generation
	repo    bytea NOT NULL,
	hash    bytea NOT NULL,               -- SHA-256 of the content
	bytes   bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS %[1]s.index_part (
	hash    bytea NOT NULL,
	part    integer NOT NULL,             -- from 0; each but the last has 1 MiB
	content bytea NOT NULL,
	PRIMARY KEY (hash, part)
)`

// tablesLock keeps two coordinators from making the tables at the same time, which fails in one of them.
const tablesLock = 0x6c656173

// Open opens a realm, and makes its tables if they are missing. It fails with fault.ErrInvalid as pgrealm.Config does, and
// with fault.ErrUnavailable if the database cannot be reached or used now.
func Open(ctx context.Context, url, name string) (*Realm, error) {
	connect, err := pgrealm.Config(url, name, "members")
	if err != nil {
		return nil, err
	}
	pool, err := pgrealm.Pool(ctx, connect, maxConnections)
	if err != nil {
		return nil, err
	}
	r := &Realm{Name: name, pool: pool}
	ctx, done := r.limited(ctx, longTime)
	defer done()
	err = r.change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", tablesLock); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf(tables, pgrealm.Schema(name)))
		return err
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close closes its connections.
func (r *Realm) Close() { r.pool.Close() }

// limited returns ctx with a time limit, and what ends that after the call. After a call that took longer, all connections
// are made again, because the network that lost one lost the others.
func (r *Realm) limited(ctx context.Context, length time.Duration) (limited context.Context, done func()) {
	limited, cancel := context.WithTimeout(ctx, length)
	return limited, func() {
		if ctx.Err() == nil && limited.Err() != nil {
			r.pool.Reset()
		}
		cancel()
	}
}

// asOwner runs do in a transaction in which no member can claim the realm. It fails unless epoch is the latest one.
func (r *Realm) asOwner(ctx context.Context, epoch uint64, do func(pgx.Tx) error) error {
	return r.change(ctx, func(tx pgx.Tx) error {
		var latest uint64
		if err := tx.QueryRow(ctx, `SELECT epoch FROM owner FOR SHARE`).Scan(&latest); err != nil {
			return err
		}
		if latest != epoch {
			return fmt.Errorf("another member owns the realm: its epoch is %d, and this one's %d: %w", latest, epoch, fault.ErrUnavailable)
		}
		return do(tx)
	})
}

// change runs do in one transaction.
func (r *Realm) change(ctx context.Context, do func(pgx.Tx) error) error {
	return r.failed(pgx.BeginFunc(ctx, r.pool, do))
}

// failed names the realm in an error of a call to the database, and adds its kind; nil stays nil.
func (r *Realm) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("realm %s: %w", r.Name, pgrealm.Unavailable(err))
}
