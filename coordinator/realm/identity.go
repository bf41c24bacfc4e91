package realm

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Files are small files by name.
type Files map[string][]byte

// Identity returns the files of the identity; none if the realm has no identity yet.
func (r *Realm) Identity(ctx context.Context) (Files, error) {
	ctx, done := r.limited(ctx, shortTime)
	defer done()
	files := Files{}
	rows, err := r.pool.Query(ctx, `SELECT name, content FROM identity`)
	if err == nil {
		var name string
		var content []byte
		_, err = pgx.ForEachRow(rows, []any{&name, &content}, func() error {
			files[name] = content
			return nil
		})
	}
	if err != nil {
		return nil, r.failed(err)
	}
	return files, nil
}

// ProposeIdentity keeps the files as the identity unless the realm has one, and returns those of the realm: of several
// coordinators that start at the same time, one decides.
func (r *Realm) ProposeIdentity(ctx context.Context, files Files) (Files, error) {
	ctx, done := r.limited(ctx, longTime)
	defer done()
	err := r.change(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE identity IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return err
		}
		var known int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM identity`).Scan(&known); err != nil || known > 0 {
			return err
		}
		return write(ctx, tx, files)
	})
	if err != nil {
		return nil, err
	}
	return r.Identity(ctx)
}

// SetIdentity replaces the files of the identity, for the owner of an epoch. Once another member owns the realm, it fails
// with fault.ErrUnavailable.
func (r *Realm) SetIdentity(ctx context.Context, epoch uint64, files Files) error {
	ctx, done := r.limited(ctx, shortTime)
	defer done()
	return r.asOwner(ctx, epoch, func(tx pgx.Tx) error { return write(ctx, tx, files) })
}

// write writes files, in place of those of the same names.
func write(ctx context.Context, tx pgx.Tx, files Files) error {
	for name, content := range files {
		if _, err := tx.Exec(ctx, `INSERT INTO identity (name, content) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET content = $2`, name, content); err != nil {
			return err
		}
	}
	return nil
}
