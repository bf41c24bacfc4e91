package visits

import (
	"embed"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/protocol/visit/policy"
)

// version is the schema as a program with the first n migrations knew it.
func version(t *testing.T, all embed.FS, n int) sqlfile.Schema {
	t.Helper()
	names, err := fs.Glob(all, "migrations/*.sql")
	require.NoError(t, err)
	some := fstest.MapFS{}
	for _, name := range names[:n] {
		text, err := all.ReadFile(name)
		require.NoError(t, err)
		some[name] = &fstest.MapFile{Data: text}
	}
	schema := Schema()
	schema.Migrations = some
	return schema
}

func TestTimesThatAreNeverBecomeNullAndKeysGoOn(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	file, err := sqlfile.Open(t.Context(), path, sqlite.Format(version(t, migrations, 8)))
	require.NoError(t, err)
	require.NoError(t, file.Write(t.Context(), "fill", func(c *sqlfile.Conn) error {
		return c.Script(`
			INSERT INTO schedule (key, id, kind, uri, host, lister, first_seen, last_seen, created, last_update, last_scheduled, last_visit,
				last_success, last_status, digest, target, idx, failures, disabled, not_before, changes, days, pool, queue, class, ref)
			SELECT column1, 'o' || column1, 'feed', 'https://a.example/' || column1, 'a.example', 0, 100, 100, -9223372036854775808,
				-9223372036854775808, column2, column2, column2, '', '', -9223372036854775808, 4, 0, '', -9223372036854775808, 0, 0, 0, 0, 0, 100
			FROM (VALUES (1, -9223372036854775808), (2, 500), (9, 700));
			INSERT INTO claim VALUES (1, 'v', 900);
			DELETE FROM schedule WHERE key = 9`)
	}))
	require.NoError(t, file.Close())

	s := openFile(t, path)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "o10", Kind: models.Feed, URI: "https://b.example/10"}}}}))
	got := map[string]row{}
	require.NoError(t, s.file.Read(t.Context(), "look", func(c *sqlfile.Conn) error {
		nulls, err := c.Number("SELECT count(*) FROM schedule WHERE last_visit IS NULL AND created IS NULL AND fresh_until IS NULL")
		require.EqualValues(t, 2, nulls)
		require.NoError(t, err)
		return c.All(selectRows, nil, func(from sqlfile.Row) error {
			r, err := scanRow(from)
			got[r.id] = r
			return err
		})
	}))
	require.Equal(t, policy.Never, got["o1"].LastSuccess)
	require.Equal(t, "v", got["o1"].visit)
	require.EqualValues(t, 500, got["o2"].LastSuccess)
	require.Equal(t, policy.Never, got["o2"].Created)
	require.EqualValues(t, 10, got["o10"].Key, "9 was given to an origin that is gone")
	require.Equal(t, policy.Never, got["o10"].NotBefore)
}
