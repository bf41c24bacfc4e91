package visits_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// refuseWrites makes the database at path refuse changes of one origin in a way that the
// store does not expect; allow ends that.
func refuseWrites(t *testing.T, path, id string) (allow func()) {
	t.Helper()
	driver, source := "sqlite", path
	refuse := `CREATE TRIGGER refuse BEFORE UPDATE ON schedule WHEN NEW.id = '%[1]s' BEGIN SELECT RAISE(FAIL, 'no write'); END;
		CREATE TRIGGER refuse_claim BEFORE INSERT ON claim WHEN NEW.key = (SELECT key FROM schedule WHERE id = '%[1]s')
		BEGIN SELECT RAISE(FAIL, 'no write'); END`
	drop := "DROP TRIGGER refuse; DROP TRIGGER refuse_claim"
	if sqldbtest.OnPostgreSQL(t) {
		driver, source = "pgx", sqldbtest.URL(t)
		refuse = "SET search_path = \"leasehold_" + sqldbtest.RealmOf(t, path) + "\"" + `;
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF NEW.key = (SELECT key FROM schedule WHERE id = '%[1]s') THEN RAISE EXCEPTION 'no write'; END IF;
				RETURN NEW;
			END $$;
			CREATE TRIGGER refuse BEFORE UPDATE ON schedule FOR EACH ROW EXECUTE FUNCTION refuse();
			CREATE TRIGGER refuse_claim BEFORE INSERT ON claim FOR EACH ROW EXECUTE FUNCTION refuse()`
		drop = "DROP FUNCTION refuse CASCADE"
	}
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1) // which has the search path
	_, err = db.Exec(fmt.Sprintf(refuse, id))
	require.NoError(t, err)
	return func() {
		_, err := db.Exec(drop)
		require.NoError(t, err)
	}
}

func TestAClaimMovesTheQueuePositionForwardAndNeverBack(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "catalog.db"), "seed", func(r *policy.Rules) { r.Fudge, r.Cooldown, r.NowShare = 0, 0, 1 })
	position := func() int64 {
		m, err := s.Metrics(t.Context(), noon)
		require.NoError(t, err)
		return m.Position[models.Feed]
	}
	visitAt := func(at time.Time, uri string) int64 {
		list(t, s, at, visits.Listing{Origins: named(uri)})
		v := claim(t, s, at, 1)
		require.Len(t, v, 1)
		require.Equal(t, uri, v[0].Origin.URI)
		record(t, s, at, outcome(v[0], at, models.Uneventful, "a"))
		return look(t, s, at, models.NewID(uri)).Target
	}
	first := visitAt(noon, "/a")
	require.Equal(t, noon.Add(2*24*time.Hour).Unix(), first, "without a position targets count from now")
	require.Zero(t, position())
	second := visitAt(noon.Add(time.Minute), "/a")
	require.Greater(t, second, first)
	require.Equal(t, first, position(), "the target that was handed out")
	later := visitAt(noon.Add(2*time.Minute), "/b")
	require.Equal(t, first+2*24*3600, later, "a new origin queues behind the position")
	require.Less(t, later, second)
	require.NoError(t, s.SaveNow(t.Context(), noon.Add(3*time.Minute), models.NewID("/a")))
	third := visitAt(noon.Add(3*time.Minute), "/a")
	require.Greater(t, third, second)
	require.Equal(t, first, position(), "a requested visit does not move it")
	visitAt(noon.Add(4*time.Minute), "/b")
	require.Equal(t, later, position())
}

func TestASecondVisitRightAfterTheFirstCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		date    time.Duration // of the second outcome, after the first
		ignored string
		last    time.Duration
	}{
		"in the same second":    {0, "", time.Second},
		"as early as it may be": {-10 * time.Second, "", time.Second},
		"too early":             {-11 * time.Second, policy.NotNewer, 0},
		"later":                 {2 * time.Second, "", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil)
			list(t, s, noon, visits.Listing{Origins: folders(1)})
			id := folders(1)[0].ID
			record(t, s, noon, outcome(claim(t, s, noon, 1)[0], noon, models.Eventful, "a"))
			require.NoError(t, s.SaveNow(t.Context(), noon, id))
			second := claim(t, s, noon, 1)[0]
			effects := record(t, s, noon, outcome(second, noon.Add(c.date), models.Eventful, "b"))
			require.Equal(t, c.ignored, effects[0].Ignored)
			is := look(t, s, noon, id)
			require.Equal(t, noon.Add(c.last).Unix(), is.LastVisit)
			require.Empty(t, is.Visit, "the visit has ended in any case")
			require.Equal(t, c.ignored == "", is.LastDigest == "b")
		})
	}
}

func TestAStaleLossDoesNotUndoTheScheduleOfTheOrigin(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	id := folders(1)[0].ID
	first := claim(t, s, noon, 1)[0]
	week := noon.Add(7 * 24 * time.Hour)
	second := claim(t, s, week, 1)
	require.Len(t, second, 1, "the first visit is lost")
	before := look(t, s, week, id)
	record(t, s, week, outcome(first, week, models.Lost, ""))
	require.Equal(t, before, look(t, s, week, id), "while another visit is under way")
	record(t, s, week, outcome(second[0], week, models.Eventful, "a"))
	before = look(t, s, week, id)
	for range 2 {
		record(t, s, week, outcome(second[0], week, models.Lost, ""))
	}
	require.Equal(t, before, look(t, s, week, id), "after the visit has ended")
	require.Empty(t, claim(t, s, week.Add(11*time.Hour), 1), "the cooldown holds")
}

func TestTheBackOfALongQueueIsReadInOrder(t *testing.T) {
	t.Parallel()
	const n = 60
	s := openAt(t, filepath.Join(t.TempDir(), "catalog.db"), "seed", func(r *policy.Rules) { r.Cooldown, r.MixShare = 0, 1 })
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
	require.NoError(t, s.Disable(t.Context(), noon, "lister"))
	origins := folders(n)
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: origins})
	for _, v := range claim(t, s, noon, n) {
		record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
	}
	for i := range origins { // the higher the number, the more it has been behind
		origins[i].Updated = noon.Add(time.Duration(i+1) * time.Minute)
	}
	at := noon.Add(2 * time.Hour)
	list(t, s, at, visits.Listing{Lister: "lister", Origins: origins})
	next, err := s.Next(t.Context(), at, 2*n)
	require.NoError(t, err)
	require.Len(t, next, n, "each once")
	// A third of 2n slots is for known changes, all of it from the back of their queue.
	for i, x := range next[:2*n/3] {
		require.Equal(t, fmt.Sprintf("/folder/%d", i), x.Origin.URI)
	}
	// The others are read from the front, which ends where the back began.
	for i, x := range next[2*n/3:] {
		require.Equal(t, fmt.Sprintf("/folder/%d", n-1-i), x.Origin.URI)
	}
}

func TestSaveAllNowGoesPastUnknownAndDisabledOrigins(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	origins := folders(3)
	list(t, s, noon, visits.Listing{Origins: origins})
	require.NoError(t, s.Disable(t.Context(), noon, origins[1].ID))
	all := []models.Origin{origins[0].Origin, {ID: "unknown"}, origins[1].Origin, origins[2].Origin}
	require.NoError(t, s.SaveAllNow(t.Context(), noon, all))
	for i, urgent := range []bool{true, false, true} {
		require.Equal(t, urgent, look(t, s, noon, origins[i].ID).Urgent, "%d", i)
	}
	require.NoError(t, s.SaveAllNow(t.Context(), noon, nil))
}

func TestAWriteThatFailsIsReportedAndNothingIsClaimedTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openAt(t, path, "value", nil)
	origins := folders(3)
	list(t, s, noon, visits.Listing{Origins: origins})
	allow := refuseWrites(t, path, origins[1].ID)
	var all []models.Origin
	for _, o := range origins {
		all = append(all, o.Origin)
	}
	ctx := t.Context()
	_, claimError := s.Claim(ctx, noon, 3)
	_, recordError := s.Record(ctx, noon, []models.Outcome{{Origin: origins[1].ID, Status: models.Eventful, At: noon}})
	for name, err := range map[string]error{
		"SaveAllNow":    s.SaveAllNow(ctx, noon, all),
		"SaveNow":       s.SaveNow(ctx, noon, origins[1].ID),
		"Enable":        s.Enable(ctx, noon, origins[1].ID),
		"Disable":       s.Disable(ctx, noon, origins[1].ID),
		"List":          s.List(ctx, noon.Add(time.Hour), visits.Listing{Origins: origins}),
		"AdoptInFlight": s.AdoptInFlight(ctx, noon, map[string]string{origins[1].ID: "visit-1"}),
		"Claim":         claimError,
		"Record":        recordError,
	} {
		require.ErrorContains(t, err, "no write", name)
		require.NotErrorIs(t, err, fault.ErrNotFound, name)
	}
	allow()
	is := look(t, s, noon, origins[1].ID)
	require.False(t, is.Urgent)
	require.Empty(t, is.Visit)
	require.Empty(t, is.History)
	under, err := s.Claimed(ctx)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, v := range append(under, claim(t, s, noon, 3)...) {
		require.False(t, seen[v.Origin.ID], "%s is visited twice", v.Origin.URI)
		seen[v.Origin.ID] = true
	}
	require.Len(t, seen, 3, "the cache is as the file is")
}

func TestAListerThatIsRemovedLeavesTheMetrics(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, id := range []string{"one", "other"} {
		_, err := s.db.Catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.URLs, URI: "/" + id, Priority: 1})
		require.NoError(t, err)
		list(t, s, time.Now(), visits.Listing{Lister: id, Origins: named("/of/" + id)})
	}
	active := func() int {
		m, err := s.Metrics(t.Context(), time.Now())
		require.NoError(t, err)
		return len(m.Active)
	}
	require.Equal(t, 2, active())
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), "one"))
	require.Equal(t, 1, active())
}
