package visits_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/database"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space/journal/postgres"
)

// TestOnPostgreSQLWithACatalog runs tests once more with their tables in PostgreSQL, for the owner of an epoch.
func TestOnPostgreSQLWithACatalog(t *testing.T) {
	t.Parallel()
	sqldbtest.RunOnPostgreSQL(t,
		TestNoOriginIsVisitedTwiceForOneSlot,
		TestAnOutcomeIsRecordedOnceAndLateOnesToo,
		TestTheLastTenOutcomesOfAnOriginAreKept,
		TestAListingInPartsDisablesWhatNoneOfThemNames,
		TestAnotherPolicyPlacesAllAnew,
		TestTheScheduleHasTheOriginsOfTheCatalogThatAreVisited,
		TestAWriteThatFailsIsReportedAndNothingIsClaimedTwice,
		TestEachCallReportsTheFailureOfEachStatementAndCanBeRepeated,
		TestAHubIsSubscribedToUntilTheFeedNoLongerNamesIt,
		TestTheHubOfARemovedOriginIsLeft,
		TestTheBackOfALongQueueIsReadInOrder,
		TestMetricsThatAreKeptAreThoseThatAreCounted,
		TestFault21TheClockMayJumpAndNothingIsVisitedTwice,
		TestAClaimMovesTheQueuePositionForwardAndNeverBack,
		TestAFeedIsNotVisitedInItsSkipHours,
	)
}

// openDatabase opens the schedule and the catalog at a path, and makes them if there are none: in a SQLite file, or for
// a test that runs on PostgreSQL in a realm of its own. They are closed with the test.
func openDatabase(t testing.TB, path string, plan *policy.Plan) *opened {
	t.Helper()
	var db *database.Database
	var err error
	if sqldbtest.OnPostgreSQL(t) {
		url, realm := sqldbtest.URL(t), sqldbtest.RealmOf(t, path)
		db, err = database.OpenRealm(t.Context(), url, realm, nextEpoch(t, url, realm), plan)
	} else {
		db, err = database.OpenPlan(t.Context(), path, plan)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return &opened{db.Visits, db}
}

// nextEpoch begins an epoch of a realm, as each process does that becomes its owner.
func nextEpoch(t testing.TB, url, realm string) uint64 {
	t.Helper()
	journal, err := postgres.Open(t.Context(), postgres.Config{URL: url, Realm: realm, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	epoch, err := journal.Claim(t.Context())
	require.NoError(t, err)
	require.NoError(t, journal.Close())
	return uint64(epoch)
}
