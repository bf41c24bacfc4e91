package store

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"leasehold/coordinator/visit"
	"leasehold/shared/sqlfile"
)

//go:embed migrations/*.sql
var migrations embed.FS

var format = sqlfile.Format{
	Name:       "store of visits",
	ID:         1281712500, // "Leas" + 1
	Migrations: migrations,
	Pragmas:    []string{"cache_size=-65536"}, // KiB
}

// Store is the visit states of all origins.
type Store struct {
	policy visit.Policy
	rules  visit.Rules
	db     *sqlfile.File
	state  memory // used within db.Use

	changed chan struct{}
}

// Memory is the path of a store that is not kept.
const Memory = sqlfile.Memory

// Changed gets something when there may be more to visit than before. It holds one.
func (s *Store) Changed() <-chan struct{} { return s.changed }

// Open opens the file, creates it if there is none, and places all origins anew if
// another policy or other rules placed them. errors.Is finds fault.ErrConflict when
// another handle holds the file, fault.ErrCorrupt when it is not one of ours or
// damaged, fault.ErrInvalid for a policy or rules that make no sense or a file of a
// newer program.
func Open(ctx context.Context, path, policy string, rules visit.Rules) (*Store, error) {
	p, err := visit.New(policy, rules)
	if err != nil {
		return nil, err
	}
	db, err := sqlfile.Open(ctx, path, format)
	if err != nil {
		return nil, fmt.Errorf("visits %s: %w", path, err)
	}
	s := &Store{policy: p, rules: rules, db: db, changed: make(chan struct{}, 1)}
	if err := db.Use(ctx, "visits "+path, s.load); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Close waits for calls under way and gives up the file. Closing twice is no error.
func (s *Store) Close() error { return s.db.Close() }

// Copy writes the store as it stands to a new file at path. Other calls wait
// meanwhile.
func (s *Store) Copy(ctx context.Context, path string) error { return s.db.Copy(ctx, path) }
