package realm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/code/embedded"
	"leasehold/shared/fault"
)

// partBytes is how much of a file one row has, so that no statement is large.
const partBytes = 1 << 20

// Depot keeps the files of the code index in the database, for the member of one epoch. It may be used concurrently.
type Depot struct {
	realm *Realm
	epoch uint64
	// keeping is held for reading while a file is kept, and for writing while content is removed that no file has: the
	// content of a file is written before its name.
	keeping sync.RWMutex
}

// Depot returns the depot of the realm for the owner of an epoch. Once another member owns the realm, changes fail with
// fault.ErrUnavailable.
func (r *Realm) Depot(epoch uint64) *Depot {
	return &Depot{realm: r, epoch: epoch}
}

func (d *Depot) asOwner(ctx context.Context, do func(pgx.Tx) error) error {
	return d.realm.asOwner(ctx, d.epoch, do)
}

// Keep implements embedded.Depot. The content comes before the name, in transactions of its own, so that no other member
// waits for a large file. Tidy removes content without a name.
func (d *Depot) Keep(ctx context.Context, f embedded.File, path string) error {
	d.keeping.RLock()
	defer d.keeping.RUnlock()
	hash, size, err := d.keepContent(ctx, path)
	if err != nil {
		return fmt.Errorf("keep %s: %w", f.Name, err)
	}
	ctx, done := d.realm.limited(ctx, longTime)
	defer done()
	return d.asOwner(ctx, func(tx pgx.Tx) error {
		var former []byte
		err := tx.QueryRow(ctx, `SELECT hash FROM index_file WHERE name = $1 AND hash <> $2`, f.Name, hash).Scan(&former)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO index_file (name, repo_id, repo, hash, bytes) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (name) DO UPDATE SET repo_id = $2, repo = $3, hash = $4, bytes = $5`, f.Name, []byte(f.RepoID), []byte(f.Repo), hash, size)
		if err == nil && former != nil {
			_, err = tx.Exec(ctx, `DELETE FROM index_part WHERE hash = $1 AND NOT EXISTS (SELECT FROM index_file WHERE hash = $1)`, former)
		}
		return err
	})
}

// keepContent writes the content of the file at path in parts, and returns its SHA-256 and size. Parts that are there
// stay.
func (d *Depot) keepContent(ctx context.Context, path string) (hash []byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	sum := sha256.New()
	if size, err = io.Copy(sum, f); err != nil {
		return nil, 0, err
	}
	hash = sum.Sum(nil)
	part := make([]byte, partBytes)
	for n := 0; int64(n)*partBytes < size || n == 0; n++ {
		read, err := f.ReadAt(part, int64(n)*partBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		if err := d.keepPart(ctx, hash, n, part[:read]); err != nil {
			return nil, 0, d.realm.failed(err)
		}
	}
	return hash, size, nil
}

// keepPart writes a part, unless it is there.
func (d *Depot) keepPart(ctx context.Context, hash []byte, n int, content []byte) error {
	ctx, done := d.realm.limited(ctx, longTime)
	defer done()
	_, err := d.realm.pool.Exec(ctx, `INSERT INTO index_part (hash, part, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, hash, n, content)
	return err
}

// Drop implements embedded.Depot.
func (d *Depot) Drop(ctx context.Context, names ...string) error {
	ctx, done := d.realm.limited(ctx, longTime)
	defer done()
	err := d.asOwner(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM index_file WHERE name = ANY($1)`, names)
		return err
	})
	if err != nil {
		return err
	}
	return d.Tidy(ctx)
}

// Tidy removes content that no file has, which a member that ended has left, too.
func (d *Depot) Tidy(ctx context.Context) error {
	d.keeping.Lock()
	defer d.keeping.Unlock()
	ctx, done := d.realm.limited(ctx, longTime)
	defer done()
	return d.asOwner(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM index_part p WHERE NOT EXISTS (SELECT FROM index_file f WHERE f.hash = p.hash)`)
		return err
	})
}

// List returns the files that the depot has.
func (d *Depot) List(ctx context.Context) (all []embedded.Kept, err error) {
	ctx, done := d.realm.limited(ctx, longTime)
	defer done()
	rows, err := d.realm.pool.Query(ctx, `SELECT name, repo_id, repo, hash, bytes FROM index_file`)
	if err == nil {
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (k embedded.Kept, err error) {
			var id, repo, hash []byte
			err = row.Scan(&k.Name, &id, &repo, &hash, &k.Bytes)
			k.RepoID, k.Repo = string(id), string(repo)
			if err == nil && copy(k.Hash[:], hash) != len(k.Hash) {
				err = fmt.Errorf("file %s of the code index has a hash of %d bytes: %w", k.Name, len(hash), fault.ErrCorrupt)
			}
			return k, err
		})
	}
	if err != nil {
		return nil, d.realm.failed(err)
	}
	return all, nil
}

// Fetch writes the content of a file to a new file at path. It fails with fault.ErrNotFound if the depot has no such
// content, and with fault.ErrCorrupt if the content differs from the hash of List; then it leaves no file.
func (d *Depot) Fetch(ctx context.Context, k embedded.Kept, path string) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("fetch %s: %w", k.Name, err), os.Remove(path))
		}
	}()
	sum, size := sha256.New(), int64(0)
	for n := 0; n == 0 || size < k.Bytes; n++ {
		part, err := d.part(ctx, k.Hash[:], n)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("part %d is missing: %w", n, fault.ErrNotFound)
		}
		if err != nil {
			return d.realm.failed(err)
		}
		if _, err := io.MultiWriter(f, sum).Write(part); err != nil {
			return err
		}
		size += int64(len(part))
	}
	if size != k.Bytes || [sha256.Size]byte(sum.Sum(nil)) != k.Hash {
		return fmt.Errorf("its content has another SHA-256: %w", fault.ErrCorrupt)
	}
	return nil
}

// part reads a part of a content.
func (d *Depot) part(ctx context.Context, hash []byte, n int) (content []byte, err error) {
	ctx, done := d.realm.limited(ctx, longTime)
	defer done()
	err = d.realm.pool.QueryRow(ctx, `SELECT content FROM index_part WHERE hash = $1 AND part = $2`, hash, n).Scan(&content)
	return content, err
}
