package admission

import (
	"context"

	"leasehold/shared/catalog/sqldb"
)

// CAs returns the fingerprints that SetCAs has kept; none before its first call.
func (s *Store) CAs(ctx context.Context) (all []string, err error) {
	err = s.file.Read(ctx, "read which CA is ours", func(c *sqldb.Conn) error {
		return c.All("SELECT fingerprint FROM ca ORDER BY fingerprint", nil, func(row sqldb.Row) error {
			var fingerprint string
			err := row.Scan(&fingerprint)
			all = append(all, fingerprint)
			return err
		})
	})
	return all, err
}

// SetCAs keeps the fingerprint of the CA of this coordinator, so that the CA of another one is recognised. While the CA
// changes, it keeps the next one too, because a crash leaves either.
func (s *Store) SetCAs(ctx context.Context, fingerprints ...string) error {
	return s.file.Write(ctx, "keep which CA is ours", func(c *sqldb.Conn) error {
		if err := c.Exec("DELETE FROM ca"); err != nil {
			return err
		}
		for _, f := range fingerprints {
			if err := c.Exec("INSERT INTO ca (fingerprint) VALUES (?)", f); err != nil {
				return err
			}
		}
		return nil
	})
}
