package visits

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqldb/sqldbtest"
)

// TestOnPostgreSQL runs tests of claims, restarts, take-overs, listings and hosts, and the random model of the fronts,
// once more with their tables in PostgreSQL.
func TestOnPostgreSQL(t *testing.T) {
	t.Parallel()
	sqldbtest.RunOnPostgreSQL(t,
		TestOnlyTheFirstOfAHostIsInFrontOfAQueue,
		TestABusyHostCostsAClaimOneOriginInEachQueue,
		TestAListingAndManyOutcomesTakeFewTransactionsAndWakeOnce,
		TestAClaimIsWrittenIntoTheRowOfItsOriginWithTheNextChangeOrAfterAWhile,
		TestOriginsBehindAClaimedOneOfTheirHostArePicked,
		TestALostVisitIsClaimedAgain,
		TestAnOriginThatWasChangedSinceItWasPickedIsNotClaimed,
		TestVisitsThatASpaceHasAreNotedOnceAndUnknownOriginsLeftOut,
		TestAnOutcomeWritesOnlyTheSilencesThatItChanged,
		TestSeveralOutcomesWriteTheDatesOfTheirListerOnce,
		TestAFullListingWritesOnlyTheOriginsThatItDoesNotName,
		TestAStartWritesNoDatesOfListersAgain,
		TestAStartThatFailsAnywhereIsAnErrorAndTheNextOnePlacesAllOrigins,
		TestTheRetryAfterOfAHostOutlivesTheProcess,
		TestAHostWithoutConnectionRestsAsAWholeAndItsOriginsDoNotFail,
		TestHostsOfAGroupShareOnePoliteness,
		TestAfterAFailureTheCacheIsReadAgainInSeveralTransactions,
		TestTheNextOwnerHandsOutWhatTheLastOneWouldHave,
		TestNoOriginIsClaimedTwiceIfTheOwnerIsLostWhileItClaims,
		TestOutcomesWithTextsThatADatabaseRefusesAreRecorded,
		TestTextsOfOriginsThatADatabaseRefusesAreRefusedOrReplaced,
		TestAProgramClaimsItsOwnTypeInOrderAndPolitely,
		TestTroubleCountsTheOriginsOfAHostThatCannotBeReached,
		TestOriginsArePlacedAgainUnlessTheSamePlanPlacedThem,
		TestADescriptionOfAnOriginIsKeptUpToItsBound,
		TestTheListerThatNamedAnOriginLastTakesTheFirstPlace,
		TestForceLiftsARetryAfterAndTheRestOfAHost,
		TestWhatIsDueAndWhenTheNextVisitMayBe,
	)
}

// openTables opens the tables at a path, which are closed with the test.
func openTables(t testing.TB, path string) sqldb.Database {
	t.Helper()
	opened := sqldbtest.Open(t, path, Schema())
	t.Cleanup(func() { require.NoError(t, opened.Close()) })
	return opened
}
