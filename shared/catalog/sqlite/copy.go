package sqlite

import (
	"context"
	"fmt"
)

// Copy writes the catalog as it stands to a new file at path. Other calls wait
// meanwhile.
func (s *Store) Copy(ctx context.Context, path string) error {
	return s.use(ctx, "Copy", func(c *session) error {
		if _, err := c.conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
			return fmt.Errorf("to %s: %w", path, err)
		}
		return nil
	})
}
