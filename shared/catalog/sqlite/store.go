package sqlite

import (
	"context"
	"embed"
	"fmt"

	"leasehold/shared/catalog"
	"leasehold/shared/sqlfile"
)

var _ catalog.Catalog = (*Store)(nil)

//go:embed migrations/*.sql
var migrations embed.FS

var format = sqlfile.Format{
	Name:       "catalog",
	ID:         1281712499, // "Leas"
	Migrations: migrations,
	Pragmas:    []string{"foreign_keys=ON"},
}

// Store is a catalog in one SQLite file.
type Store struct {
	path  string
	file  *sqlfile.File
	clips *clipSet // what Select may choose; nil when it must be read again; used within use
}

// Open opens the catalog at path, creates it if there is none, and brings an
// older one to the version of this program. errors.Is finds fault.ErrConflict
// when another handle or process holds the file, fault.ErrCorrupt when it is
// not a catalog or damaged, and fault.ErrInvalid when it was written by a newer
// program.
func Open(ctx context.Context, path string) (*Store, error) {
	file, err := sqlfile.Open(ctx, path, format)
	if err != nil {
		return nil, fmt.Errorf("catalog.Open %s: %w", path, err)
	}
	return &Store{path: path, file: file}, nil
}

// Close waits for calls under way, writes the log back, and gives up the file.
func (s *Store) Close() error {
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("catalog.Close %s: %w", s.path, err)
	}
	return nil
}

// Copy writes the catalog as it stands to a new file at path. Other calls wait
// meanwhile.
func (s *Store) Copy(ctx context.Context, path string) error { return s.file.Copy(ctx, path) }

// use runs f with the file once it is this caller's turn. What f returns is wrapped
// with the operation's name.
func (s *Store) use(ctx context.Context, op string, f func(*session) error) error {
	return s.file.Use(ctx, op, func() error { return f(&session{s.file}) })
}

// change is use in one transaction: all that f writes is on disk when change
// returns nil, none of it is written otherwise.
func (s *Store) change(ctx context.Context, op string, f func(*session) error) error {
	return s.file.Change(ctx, op, func() error { return f(&session{s.file}) })
}
