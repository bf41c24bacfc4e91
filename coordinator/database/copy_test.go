package database

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// realmOf opens a realm on a new database, as its owner of epoch 1.
func realmOf(t *testing.T, url string) *Database {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `CREATE SCHEMA IF NOT EXISTS leasehold_default; CREATE TABLE IF NOT EXISTS leasehold_default.owner (epoch bigint);
		DELETE FROM leasehold_default.owner; INSERT INTO leasehold_default.owner VALUES (1)`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	plan, err := policy.Uniform("value", policy.DefaultRules())
	require.NoError(t, err)
	d, err := OpenRealm(t.Context(), url, "default", 1, plan)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func fileAt(t *testing.T, path string) *Database {
	t.Helper()
	d, err := Open(t.Context(), path, "value", policy.DefaultRules())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// rows returns all rows of all tables as text.
func (d *Database) rows(t *testing.T, tables []copied) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	require.NoError(t, d.db.Read(t.Context(), "rows", func(c *sqldb.Conn) error {
		for _, table := range tables {
			values, into := make([]any, len(table.columns)), make([]any, len(table.columns))
			for i := range values {
				into[i] = &values[i]
			}
			err := c.All(fmt.Sprintf(`SELECT "%s" FROM %s`, strings.Join(table.columns, `", "`), table.name), nil, func(row sqldb.Row) error {
				err := row.Scan(into...)
				for i, v := range values {
					if b, ok := v.([]byte); ok {
						values[i] = string(b)
					}
				}
				all[table.name] = append(all[table.name], fmt.Sprint(values...))
				return err
			})
			if err != nil {
				return err
			}
			slices.Sort(all[table.name])
		}
		return nil
	}))
	return all
}

// fillTables puts something into most tables.
func fillTables(t *testing.T, d *Database) {
	t.Helper()
	for n := range 700 {
		id := fmt.Sprint("o", n)
		_, err := d.Catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.Feed, URI: "https://" + id + ".example/ü"})
		require.NoError(t, err)
	}
	l := catalog.Listing{Complete: true}
	for n := range 30 {
		name := fmt.Sprint("e", n)
		l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: name, Title: "Title", Media: models.MediaRef{URI: "https://m.example/" + name, Type: "audio/mpeg"}}})
	}
	_, err := d.Catalog.Curate(t.Context(), "o1", time.Now(), l)
	require.NoError(t, err)
	for n := range 3 {
		_, err = d.Visits.Record(t.Context(), time.Now(), []models.Outcome{{Origin: "o1", Status: models.Eventful, At: time.Now().Add(time.Duration(n) * time.Second), Digest: fmt.Sprint(n)}})
		require.NoError(t, err)
	}
	require.NoError(t, d.Catalog.RemoveOrigin(t.Context(), "o699"))
}

func TestADatabaseIsCopiedToARealmAndBack(t *testing.T) {
	t.Parallel()
	from := fileAt(t, filepath.Join(t.TempDir(), "catalog.db"))
	fillTables(t, from)
	tables, err := from.tables(t.Context())
	require.NoError(t, err)
	want := from.rows(t, tables)
	require.Greater(t, len(want), 4, "%v", want)

	url := pgserver.Database(t)
	realm := realmOf(t, url)
	require.NoError(t, from.CopyTo(t.Context(), realm))
	require.Equal(t, want, realm.rows(t, tables))
	require.ErrorIs(t, from.CopyTo(t.Context(), realm), fault.ErrConflict)
	again := realmOf(t, url) // reads what it keeps in memory
	number := func(d *Database, id string) (n int64) {
		_, err := d.Catalog.AddOrigin(context.Background(), models.Origin{ID: id, Kind: models.Feed, URI: "https://" + id + ".example"})
		require.NoError(t, err)
		require.NoError(t, d.db.Read(context.Background(), "number", func(c *sqldb.Conn) error {
			_, err := c.One("SELECT number FROM origin WHERE id = ?", []any{id}, sqldb.Into(&n))
			return err
		}))
		return n
	}
	require.EqualValues(t, 701, number(again, "later"), "the number of the origin that was removed is not given again")

	path := filepath.Join(t.TempDir(), "catalog.db")
	back := fileAt(t, path)
	want = again.rows(t, tables)
	require.NoError(t, again.CopyTo(t.Context(), back))
	require.Equal(t, want, back.rows(t, tables))
	require.NoError(t, back.Close())
	require.EqualValues(t, 702, number(fileAt(t, path), "last"))
}
