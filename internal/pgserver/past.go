package pgserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Keep copies all databases as they are now, and returns what brings them back later, in place, as the restore of a backup
// does. Both stop the server and start it again.
func (s *Server) Keep(t testing.TB) (restore func()) {
	t.Helper()
	kept := filepath.Join(s.dir, "kept")
	s.Stop(t)
	s.copyFolder(t, s.data(), kept)
	s.Start(t)
	return func() {
		s.Stop(t)
		require.NoError(t, os.RemoveAll(s.data()))
		s.copyFolder(t, kept, s.data())
		s.Start(t)
	}
}
