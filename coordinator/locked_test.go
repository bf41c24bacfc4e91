package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/database"
	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit"
	rules "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space/journal"
)

// Another program may lock the database for longer than SQLite waits, at any moment.
func TestADatabaseThatAnotherProgramLocksDelaysVisitsAndEndsNothing(t *testing.T) {
	t.Parallel()
	for name, lockFirst := range map[string]bool{"at the start": true, "while it runs": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db, err := database.Open(t.Context(), database.Memory, "value", rules.DefaultRules())
				require.NoError(t, err)
				for _, id := range []string{"o1", "o2"} {
					_, err = db.Catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.Media, URI: "/" + id, AddedAt: time.Now()})
					require.NoError(t, err)
				}
				c, err := coordinator.New(t.Context(), coordinator.Config{
					Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour},
				})
				require.NoError(t, err)
				var locked atomic.Bool
				locked.Store(lockFirst)
				ctx, stop := context.WithCancel(sqldb.FailWhile(context.Background(), &locked))
				done := make(chan error, 1)
				go func() { done <- c.Run(ctx, nil) }()
				<-time.After(72 * time.Second)
				locked.Store(false)
				repo, err := c.Connect(t.Context(), "manager", 0)
				require.NoError(t, err)
				client := visit.Client{Repo: repo}
				for range 2 {
					v, err := client.Take(t.Context())
					require.NoError(t, err)
					locked.Store(true)
					require.NoError(t, client.End(t.Context(), models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: time.Now()}))
					<-time.After(10 * time.Minute)
					require.Empty(t, done, "the coordinator runs")
					locked.Store(false)
					<-time.After(10 * time.Second)
					o, err := db.Catalog.Origin(t.Context(), v.Origin.ID)
					require.NoError(t, err)
					require.Equal(t, models.Eventful, o.LastOutcome)
				}
				stop()
				require.NoError(t, <-done)
				require.NoError(t, db.Close())
			})
		})
	}
}

// A database may have claimed visits although its answer was lost.
func TestVisitsThatAFailedClaimHasClaimedAreOffered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := database.Open(t.Context(), database.Memory, "value", rules.DefaultRules())
		require.NoError(t, err)
		c, err := coordinator.New(t.Context(), coordinator.Config{
			Journal: &journal.Memory{}, Catalog: db.Catalog, Visits: db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour},
		})
		require.NoError(t, err)
		var locked atomic.Bool
		ctx, stop := context.WithCancel(sqldb.FailWhile(context.Background(), &locked))
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx, nil) }()
		<-time.After(time.Second)
		locked.Store(true)
		_, err = db.Catalog.AddOrigin(t.Context(), models.Origin{ID: "o1", Kind: models.Media, URI: "/o1", AddedAt: time.Now()})
		require.NoError(t, err)
		claimed, err := db.Visits.Claim(t.Context(), time.Now(), 1) // the answer does not reach the coordinator
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		repo, err := c.Connect(t.Context(), "manager", 0)
		require.NoError(t, err)
		taken := make(chan models.Visit, 1)
		go func() {
			v, err := visit.Client{Repo: repo}.Take(t.Context())
			if err != nil {
				t.Error(err)
			}
			taken <- v
		}()
		<-time.After(time.Minute)
		locked.Store(false)
		<-time.After(time.Minute)
		require.Len(t, taken, 1)
		require.Equal(t, claimed[0].ID, (<-taken).ID)
		stop()
		require.NoError(t, <-done)
		require.NoError(t, db.Close())
	})
}
