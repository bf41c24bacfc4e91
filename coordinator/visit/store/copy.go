package store

import "context"

// Copy writes the store as it stands to a new file at path. Other calls wait
// meanwhile.
func (s *Store) Copy(ctx context.Context, path string) error {
	return s.use(ctx, "copy visits to "+path, func() error {
		_, err := s.conn.ExecContext(ctx, "VACUUM INTO ?", path)
		return err
	})
}
