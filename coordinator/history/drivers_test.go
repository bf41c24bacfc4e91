package history_test

import (
	"testing"

	"leasehold/shared/catalog/sqldb/sqldbtest"
)

// TestOnPostgreSQL runs tests once more with their tables in PostgreSQL, except for the one that adds two weeks.
func TestOnPostgreSQL(t *testing.T) {
	t.Parallel()
	sqldbtest.RunOnPostgreSQL(t,
		TestEachMinuteHasItsCountsAndTheTasksThatWaitAtItsEnd,
		TestARestartInAMinuteLosesNothing,
		TestMinutesInWhichTheCoordinatorDidNotRunAreAbsent,
		TestAClockThatIsWrongForAWhileRemovesNothing,
		TestSixtyActionsAreFiftyAndOther,
		TestNamesThatATableCannotHaveCountToOther,
		TestEachMinuteHasTheTuplesOfSpacesAtItsEnd,
		TestSixtySpacesAreTheLargestFiftyAndOther,
		TestAllActionsAreReadAtOnce,
	)
}
