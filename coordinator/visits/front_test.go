package visits

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// hosted are n origins, spread over the hosts in turn.
func hosted(n, hosts int) (all []Named) {
	for i := range n {
		uri := fmt.Sprintf("https://h%d.example/%d", i%hosts, i)
		all = append(all, Named{Origin: models.Origin{ID: fmt.Sprint("o", i), Kind: models.Feed, URI: uri}})
	}
	return all
}

func TestOnlyTheFirstOfAHostIsInFrontOfAQueue(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Names {
		random := rand.New(rand.NewPCG(1, 2))
		s := openFile(t, sqlfile.Memory)
		rules := policy.DefaultRules()
		rules.HostSlots, rules.HostGap, rules.Cooldown = 5, 0, time.Hour
		var err error
		s, err = New(t.Context(), s.file, uniform(t, name, rules))
		require.NoError(t, err)
		now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		origins := hosted(60, 4)
		origins = append(origins, Named{Origin: models.Origin{ID: "folder", Kind: models.Media, URI: "/folder"}})
		for range 120 {
			now = now.Add(time.Duration(random.IntN(7200)) * time.Second)
			o := origins[random.IntN(len(origins))]
			switch random.IntN(6) {
			case 0:
				o.Updated = now.Add(-time.Duration(random.IntN(100)) * time.Hour)
				require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{o}}))
			case 1:
				_ = s.SaveNow(t.Context(), now, o.ID)
			case 2:
				_ = s.Disable(t.Context(), now, o.ID)
				_ = s.Enable(t.Context(), now, origins[random.IntN(len(origins))].ID)
			case 3:
				require.NoError(t, s.write(t.Context(), "remove", func() error { return s.OriginRemoved(s.db, o.ID) }))
			default:
				require.NoError(t, s.List(t.Context(), now, Listing{Origins: origins[:1+random.IntN(len(origins))]}))
				visits, err := s.Claim(t.Context(), now, 1+random.IntN(20))
				require.NoError(t, err)
				for _, v := range visits {
					if random.IntN(3) == 0 {
						continue // it stays under way
					}
					_, err := s.Record(t.Context(), now, []models.Outcome{{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: fmt.Sprint(random.IntN(3))}})
					require.NoError(t, err)
				}
			}
			requireFronts(t, s)
		}
	}
}

func requireFronts(t *testing.T, s *Store) {
	t.Helper()
	var wrong []string
	require.NoError(t, s.file.Write(t.Context(), "look", func(c *sqldb.Conn) error {
		return c.All(`SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY host, pool, queue, class ORDER BY ref, key) AS place FROM schedule) AS placed
			WHERE front <> CASE WHEN place = 1 OR host = '' OR pool > 200 THEN 1 ELSE 0 END`, nil, func(from sqldb.Row) error {
			var id string
			err := from.Scan(&id)
			wrong = append(wrong, id)
			return err
		})
	}))
	require.Empty(t, wrong)
	for key, r := range s.cache.claims {
		inFile, ok, err := find(s.db, selectRows+" WHERE key = ?", key)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, inFile, r, "memory has the claims as the file has")
		require.Equal(t, key, s.cache.claimKeys[r.id])
	}
	require.Len(t, s.cache.claimKeys, len(s.cache.claims))
}

// However many origins a busy host has, a claim passes over one in each queue, and
// changes none.
func TestABusyHostCostsAClaimOneOriginInEachQueue(t *testing.T) {
	t.Parallel()
	s := openFile(t, sqlfile.Memory)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(3000, 3)}))
	deferred := func() int64 {
		m, err := s.Metrics(t.Context(), now)
		require.NoError(t, err)
		return m.Deferred
	}
	visits, err := s.Claim(t.Context(), now, 40)
	require.NoError(t, err)
	require.Len(t, visits, 3)
	before := deferred()
	visits, err = s.Claim(t.Context(), now, 40)
	require.NoError(t, err)
	require.Empty(t, visits)
	require.LessOrEqual(t, deferred()-before, int64(3*10), "3 hosts in one queue, read by at most 10 shares")
	require.Equal(t, 2997, s.cache.pools[policy.PoolFirst], "none was parked")
	at, err := s.Wake(t.Context(), now)
	require.NoError(t, err)
	require.Equal(t, now.Add(time.Second).UnixMilli(), at.UnixMilli())
	visits, err = s.Claim(t.Context(), at, 40)
	require.NoError(t, err)
	require.Len(t, visits, 3)
}

func TestTheGapOfAHostBeginsWhenAVisitEnds(t *testing.T) {
	t.Parallel()
	s := openFile(t, sqlfile.Memory)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(3, 1)}))
	visits, err := s.Claim(t.Context(), now, 3)
	require.NoError(t, err)
	require.Len(t, visits, 1)
	ended := now.Add(900 * time.Millisecond)
	_, err = s.Record(t.Context(), ended, []models.Outcome{{Visit: visits[0].ID, Origin: visits[0].Origin.ID, Status: models.Eventful, At: now}})
	require.NoError(t, err)
	for after, want := range map[time.Duration]int{time.Second: 0, 1899 * time.Millisecond: 0} {
		visits, err = s.Claim(t.Context(), now.Add(after), 3)
		require.NoError(t, err)
		require.Len(t, visits, want)
	}
	visits, err = s.Claim(t.Context(), now.Add(1900*time.Millisecond), 3)
	require.NoError(t, err)
	require.Len(t, visits, 1)
}

// transactions is a catalog that counts those that it is changed in.
type transactions struct {
	count, outcomes int
	under           bool
}

func (x *transactions) AddListed(c *sqldb.Conn, o models.Origin) (models.Origin, error) {
	x.join(c)
	return o, nil
}

func (x *transactions) SetRefs(c *sqldb.Conn, _ models.Origin) error {
	x.join(c)
	return nil
}

func (x *transactions) RecordOutcomeIn(c *sqldb.Conn, _ models.Outcome) (string, error) {
	x.outcomes++
	x.join(c)
	return "", nil
}

func (x *transactions) join(c *sqldb.Conn) {
	if !x.under {
		x.under = true
		x.count++
		c.OnEnd(func(bool) { x.under = false })
	}
}

// The clock of the bubble stands still, so that no transaction ends because of the time it took.
func TestAListingAndManyOutcomesTakeFewTransactionsAndWakeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openFile(t, sqlfile.Memory)
		x := &transactions{}
		s.Attach(x)
		now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}}))
		<-s.Changed()
		require.Zero(t, x.count, "only origins that a lister named are added to the catalog")
		woken, stop := 0, make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-s.Changed():
					woken++
				case <-stop:
					return
				}
			}
		}()
		require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Origins: hosted(2000, 1000)}))
		close(stop)
		<-ended
		require.LessOrEqual(t, woken, 2, "after the last origin, and when the listing is recorded")
		require.Equal(t, 1, x.count, "a slice of a list")
		x.count = 0
		visits, err := s.Claim(t.Context(), now, 500)
		require.NoError(t, err)
		require.Len(t, visits, 500)
		var outcomes []models.Outcome
		for _, v := range visits {
			outcomes = append(outcomes, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Uneventful, At: now})
		}
		_, err = s.Record(t.Context(), now, outcomes)
		require.NoError(t, err)
		require.Equal(t, 500, x.outcomes, "recorded in the catalog in the same transactions")
		require.Less(t, x.count, 50)
	})
}
