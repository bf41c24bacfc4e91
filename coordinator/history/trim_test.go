package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/catalog/pgsql"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
)

func TestIntervalsOfAWrongClockAndThenTheOldestGoWithTheirActionsAndSpaces(t *testing.T) {
	t.Parallel()
	file, err := sqlfile.Open(t.Context(), sqlfile.Memory, store.Format(Schema()))
	require.NoError(t, err)
	realm, err := pgsql.Open(t.Context(), pgsql.Options{URL: pgserver.Shared(t).URL("postgres"), Realm: "trim", Name: "catalog", Schemas: []sqldb.Schema{Schema()}})
	require.NoError(t, err)
	for _, tables := range []sqldb.Database{file, realm} {
		defer tables.Close()
		s, begin := New(tables), time.Unix(6000, 0).UTC()
		for _, n := range []int{0, 1, 2, 3, 100} {
			at := begin.Add(time.Duration(n) * Minute)
			require.NoError(t, s.Add(t.Context(), at, at, Sample{Actions: map[string]Counts{"a": {Created: 1}}, Spaces: map[string]Tuples{"s": {Visible: 1}}}))
		}
		for _, most := range []int64{9, 3} {
			require.NoError(t, tables.Write(t.Context(), "trim", func(c *sqldb.Conn) error { return trim(c, Minute, most, begin.Add(4*Minute)) }))
		}
		q := Query{Step: Minute, From: begin, To: begin.Add(time.Hour * 24)}
		points, err := s.Read(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, points, 3)
		require.Equal(t, begin.Add(Minute), points[0].At)
		require.Equal(t, begin.Add(3*Minute), points[2].At)
		actions, err := s.ReadActions(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, actions["a"], 3)
		spaces, err := s.ReadSpaces(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, spaces["s"], 3)
	}
}
