package visits

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

func TestWhatSilencesShowedOutlivesTheStore(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	s := openFile(t, path)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(50, 50)}))
	for round := range 3 {
		now = now.Add(48 * time.Hour)
		visits, err := s.Claim(t.Context(), now, 50)
		require.NoError(t, err)
		require.Len(t, visits, 50)
		for i, v := range visits {
			o := models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Uneventful, At: now, Digest: "a"}
			if round == 0 || i%2 == 0 {
				o.Status, o.Digest, o.ChangedAt = models.Eventful, fmt.Sprint(round), []time.Time{now.Add(-24 * time.Hour)}
			}
			_, err := s.Record(t.Context(), now, []models.Outcome{o})
			require.NoError(t, err)
		}
	}
	require.NotZero(t, s.cache.silences)
	row, ok, err := s.current(hosted(50, 50)[0].ID)
	require.NoError(t, err)
	require.True(t, ok)
	require.InDelta(t, 1, row.Activity, 0.2)
	require.NotZero(t, row.Activity)
	require.NoError(t, s.file.Close())
	again := openFile(t, path)
	require.Equal(t, s.cache.silences, again.cache.silences)
}

// countWrites adds a row to a new table written with each row of a table that is written from now on.
func countWrites(t *testing.T, s *Store, table string) {
	t.Helper()
	insert(t, s, "CREATE TABLE written (one bigint)")
	if sqldbtest.OnPostgreSQL(t) {
		insert(t, s, `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (1); RETURN NULL; END';
			CREATE TRIGGER written AFTER INSERT OR UPDATE ON `+table+` FOR EACH ROW EXECUTE FUNCTION note()`)
		return
	}
	for _, change := range []string{"INSERT", "UPDATE"} {
		insert(t, s, fmt.Sprintf("CREATE TRIGGER after_%[1]s AFTER %[1]s ON %[2]s BEGIN INSERT INTO written VALUES (1); END", change, table))
	}
}

func TestAnOutcomeWritesOnlyTheSilencesThatItChanged(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(3, 3)}))
	countWrites(t, s, "silence")
	written := func() (n int64) {
		require.NoError(t, s.file.Read(t.Context(), "look", func(c *sqldb.Conn) (err error) {
			n, err = c.Number("SELECT count(*) FROM written")
			return err
		}))
		return n
	}
	for round, silence := range []time.Duration{0, time.Hour, 24 * time.Hour, 240 * time.Hour, 24 * time.Hour} {
		now = now.Add(48 * time.Hour)
		visits, err := s.Claim(t.Context(), now, 3)
		require.NoError(t, err)
		for _, v := range visits {
			before := written()
			o := models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: fmt.Sprint(round), ChangedAt: []time.Time{now.Add(-silence)}}
			_, err := s.Record(t.Context(), now, []models.Outcome{o})
			require.NoError(t, err)
			require.LessOrEqual(t, written(), before+1, "an outcome is of one band")
		}
	}
	require.Greater(t, written(), int64(3))
	before := written()
	require.NoError(t, s.SaveNow(t.Context(), now, "o0"))
	require.Equal(t, before, written())
}

func TestSeveralOutcomesWriteTheDatesOfTheirListerOnce(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}}))
	dated := hosted(40, 40)
	for i := range dated {
		dated[i].Updated = now.Add(-time.Hour)
	}
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Full: true, Origins: dated}))
	countWrites(t, s, "lister")
	for range 2 {
		now = now.Add(48 * time.Hour)
		visits, err := s.Claim(t.Context(), now, 40)
		require.NoError(t, err)
		var outcomes []models.Outcome
		for _, v := range visits {
			outcomes = append(outcomes, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: now.String()})
		}
		_, err = s.Record(t.Context(), now, outcomes)
		require.NoError(t, err)
	}
	require.NoError(t, s.file.Read(t.Context(), "look", func(c *sqldb.Conn) error {
		writes, err := c.Number("SELECT count(*) FROM written")
		require.Less(t, writes, int64(40), "40 outcomes of 80 score the lister")
		var days float64
		_, err2 := c.One("SELECT watched FROM lister WHERE watched > 0", nil, sqldb.Into(&days))
		require.NoError(t, err2)
		require.Equal(t, s.cache.allDates.Days, days)
		return err
	}))
}

func TestAFullListingWritesOnlyTheOriginsThatItDoesNotName(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}}))
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Full: true, Origins: hosted(100, 10)}))
	countWrites(t, s, "schedule")
	now = now.Add(time.Hour)
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Full: true, Origins: hosted(100, 10)[:90]}))
	require.NoError(t, s.file.Read(t.Context(), "look", func(c *sqldb.Conn) error {
		writes, err := c.Number("SELECT count(*) FROM written")
		require.LessOrEqual(t, writes, int64(90+2*10), "90 are named again; 10 are disabled, and others may move to the front")
		return err
	}))
	m, err := s.Metrics(t.Context(), now)
	require.NoError(t, err)
	require.Equal(t, 10, m.Disabled[policy.ByLister])
}

func TestAStartWritesNoDatesOfListersAgain(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}}))
	require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Full: true, Origins: hosted(1, 1)}))
	countWrites(t, s, "lister") // it has the cache read again
	require.NoError(t, s.SaveNow(t.Context(), now, "o0"))
	require.NoError(t, s.file.Read(t.Context(), "look", func(c *sqldb.Conn) error {
		writes, err := c.Number("SELECT count(*) FROM written")
		require.Zero(t, writes)
		return err
	}))
}
