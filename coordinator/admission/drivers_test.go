package admission_test

import (
	"testing"

	"leasehold/shared/catalog/sqldb/sqldbtest"
)

// TestOnPostgreSQL runs tests once more with their tables in PostgreSQL, except for the one that writes 100,000 records.
func TestOnPostgreSQL(t *testing.T) {
	t.Parallel()
	sqldbtest.RunOnPostgreSQL(t,
		TestATokenProvesItsIdentity,
		TestARevokedTokenAndAnInventedOneProveNothing,
		TestTokensThatCannotBeMadeAreNamed,
		TestATokenWithARoleThatIsGoneProvesNothing,
		TestTheAdminsTokenIsInNoTable,
		TestAProcessJoinsByItsInvite,
		TestAUseIsCountedOnceForEachKey,
		TestAKeyThatJoinsByAnotherInviteInBetweenCountsOnce,
		TestAWrongSecretAndAWrongIDHaveTheSameError,
		TestAGuessDoesNotWaitForTheWriterOfTheDatabase,
		TestInvitesThatCannotBeMadeAreNamed,
		TestACertificateIsRenewedForAMonthAfterItsEnd,
		TestARevokedPeerNeitherRenewsNorJoins,
		TestPeersThatWereNotSeenForAnHourAreListedWithAll,
		TestTheAuditHasTheLatestRecords,
		TestTheCAIsKept,
		TestAPeerThatIsForgottenTakesItsUsesWithIt,
		TestInvitesThatEndWhileProcessesNeedThemAreFound,
		TestTextsThatADatabaseRefusesAreRefusedOrReplaced,
	)
}
