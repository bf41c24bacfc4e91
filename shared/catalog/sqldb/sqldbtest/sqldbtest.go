// Package sqldbtest opens the tables of a package for its tests, in a SQLite file or in PostgreSQL, so that the same tests
// run on both.
package sqldbtest

import (
	"flag"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/catalog/pgsql"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
)

// onPostgreSQL has the tables of every test and benchmark in PostgreSQL:
//
//	go test ./coordinator/visits -postgres test
var onPostgreSQL = flag.String("postgres", "", "URL of a database for the tables of all tests; test: a server that the tests start")

// onServer begins the names of the tests whose subtests have their tables in PostgreSQL.
const onServer = "TestOnPostgreSQL"

// RunOnPostgreSQL runs tests as subtests with their names, and with their tables in PostgreSQL. The name of the test that
// calls it begins with TestOnPostgreSQL. It starts the server, which no test with a clock of its own may do.
func RunOnPostgreSQL(t *testing.T, tests ...func(*testing.T)) {
	t.Helper()
	require.Contains(t, t.Name(), onServer)
	URL(t)
	for _, test := range tests {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		t.Run(strings.TrimPrefix(name[strings.LastIndexByte(name, '.')+1:], "Test"), test)
	}
}

// OnPostgreSQL reports whether a test has its tables in PostgreSQL.
func OnPostgreSQL(t testing.TB) bool {
	return *onPostgreSQL != "" || strings.HasPrefix(t.Name(), onServer)
}

// URL returns the URL of the database with the tables of all tests.
func URL(t testing.TB) string {
	if url := *onPostgreSQL; url != "" && url != "test" {
		return url
	}
	return pgserver.Shared(t).URL("postgres")
}

// Open opens the tables of a schema at a path, and makes them if there are none: in a SQLite file, or in a realm that
// stands for the path. The caller closes them.
func Open(t testing.TB, path string, schema sqldb.Schema) (tables sqldb.Database) {
	t.Helper()
	var err error
	if OnPostgreSQL(t) {
		tables, err = pgsql.Open(t.Context(), pgsql.Options{URL: URL(t), Realm: RealmOf(t, path), Name: "catalog", Schemas: []sqldb.Schema{schema}})
	} else {
		tables, err = sqlfile.Open(t.Context(), path, store.Format(schema))
	}
	require.NoError(t, err)
	return tables
}

// RealmOf returns the realm that stands for a path. Tables in memory have a realm that no other test has.
func RealmOf(t testing.TB, path string) string {
	if path == sqlfile.Memory {
		path = filepath.Join(t.TempDir(), "memory")
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(path))
	return fmt.Sprintf("r%016x", h.Sum64()) // a realm begins with a letter
}
