package store

import (
	"context"
	"embed"
	"fmt"
	"hash/maphash"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
)

var _ catalog.Catalog = (*Store)(nil)

//go:embed migrations/*.sql migrations/postgres/*.sql
var migrations embed.FS

// Schema is the catalog's part of a database.
func Schema() sqldb.Schema {
	return sqldb.Schema{Name: "catalog", Migrations: migrations, Checks: checks}
}

// Format is the format of a SQLite file that holds a catalog and other schemas.
func Format(others ...sqldb.Schema) sqlfile.Format {
	return sqlfile.Format{
		Name:    "catalog",
		ID:      1281712499, // "Leas"
		Schemas: append([]sqldb.Schema{Schema()}, others...),
		Pragmas: []string{"foreign_keys=ON", "cache_size=-65536"}, // KiB; readers have less
	}
}

// Schedule is what must change in the same transaction as the origins. Its tables are in
// the database of the catalog; it must not keep the connection.
type Schedule interface {
	// OriginAdded is called for a new origin, and when a known one is added again.
	OriginAdded(c *sqldb.Conn, o models.Origin) error
	// OriginPriority is called when the priority of a known origin was set.
	OriginPriority(c *sqldb.Conn, id string, priority int64) error
	// BeforeRemoval is called before the transaction that removes an origin, for changes
	// that take longer than one transaction may.
	BeforeRemoval(ctx context.Context, id string) error
	// OriginRemoved is called with the id of an origin when it is removed.
	OriginRemoved(c *sqldb.Conn, id string) error
}

// Store is a catalog in a database.
type Store struct {
	db       sqldb.Database
	schedule Schedule // nil: none

	// Curate and RemoveOrigin fill the channel of the origin while they run, because both take
	// several transactions. Origins share 64 channels by a hash of their ids.
	origins [64]chan struct{}
	seed    maphash.Seed

	nextRest atomic.Int64 // when Select looks for rests that are over (rest.go), in microseconds; 0: at the next call

	// The writer's user may use these.
	clips      *clipSet // that Select may choose; nil: it must be read again
	clipsEpoch int      // counts changes of the rows that clips was read from
}

// New returns the catalog in a database with Schema. Close closes the database.
func New(db sqldb.Database, schedule Schedule) *Store {
	s := &Store{db: db, schedule: schedule, seed: maphash.MakeSeed()}
	for i := range s.origins {
		s.origins[i] = make(chan struct{}, 1)
	}
	return s
}

// Open opens a catalog without a schedule in a SQLite file at path, and creates it if it does not exist. Errors are
// those of sqlfile.Open; a file with a schedule is fault.ErrInvalid, because its origins would no
// longer be those of the catalog.
func Open(ctx context.Context, path string) (*Store, error) {
	file, err := sqlfile.Open(ctx, path, Format())
	if err != nil {
		return nil, fmt.Errorf("catalog.Open %s: %w", path, err)
	}
	return New(file, nil), nil
}

// Examine lists the damage in the database, as sqldb.Database.Examine does.
func (s *Store) Examine(ctx context.Context) ([]string, error) { return s.db.Examine(ctx) }

// Close waits for calls under way and gives up the database.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("catalog.Close: %w", err)
	}
	return nil
}

// lockOrigin waits until no other call changes the recordings of the origin, or of another one with
// the same channel, and keeps others waiting until unlock is called. The error is the cause of ctx.
func (s *Store) lockOrigin(ctx context.Context, op, id string) (unlock func(), err error) {
	lock := s.origins[maphash.String(s.seed, id)%uint64(len(s.origins))]
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
}

// stamp returns the value of t in a column: microseconds since 1970. moment is the inverse.
func stamp(t time.Time) int64   { return t.UnixMicro() }
func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }
