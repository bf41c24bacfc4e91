package pgserver

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	once   sync.Once
	common *Server // what once made; nil if that failed
	made   atomic.Int64

	initialised sync.Once
	empty       string // the folder that initialised made; "" if that failed
)

// template returns the folder of data of an empty server, which new servers copy: initdb takes seven times as long. The
// first call makes it, and it is removed when the process ends.
func template(t testing.TB) string {
	t.Helper()
	initialised.Do(func() {
		s := &Server{bin: programs(t)}
		require.NoError(t, s.prepare(t.Context()))
		s.program(t, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
		empty = s.data()
	})
	require.NotEmpty(t, empty, "initdb failed in the first test")
	return empty
}

// Shared returns the server that all tests of this process share. The first call starts it, and it ends with the
// process. Tests must not stop it.
func Shared(t testing.TB) *Server {
	t.Helper()
	programs(t)
	once.Do(func() { common = New(process{t}) })
	require.NotNil(t, common, "the server did not start for the first test")
	return common
}

// process is a test whose end means nothing to what it starts.
type process struct{ testing.TB }

// Cleanup does not call f: what waits for the end of the process cleans up.
func (process) Cleanup(func()) {}

// Database returns the URL of a new, empty database on the shared server. It is dropped when the test ends.
func Database(t testing.TB) (url string) {
	t.Helper()
	return Shared(t).Database(t)
}

// Database returns the URL of a new, empty database. It is dropped when the test ends, unless the server does not
// answer then.
func (s *Server) Database(t testing.TB) (url string) {
	t.Helper()
	return s.database(t, "")
}

// DatabaseIn is Database with the tables in an empty folder, and the log of the server elsewhere.
func (s *Server) DatabaseIn(t testing.TB, dir string) (url string) {
	t.Helper()
	require.NoError(t, own(dir))
	name := fmt.Sprintf("place%d", made.Add(1))
	s.Exec(t, fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, dir))
	return s.database(t, " TABLESPACE "+name)
}

func (s *Server) database(t testing.TB, options string) (url string) {
	t.Helper()
	name := fmt.Sprintf("test%d", made.Add(1))
	s.Exec(t, "CREATE DATABASE "+name+options)
	t.Cleanup(func() {
		if s.exited != nil {
			s.Exec(t, "DROP DATABASE "+name+" WITH (FORCE)")
		}
	})
	return s.URL(name)
}
