package pgsql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestParametersAreNumberedAsSQLiteNumbersThem(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":                                   "",
		"SELECT 1":                           "SELECT 1",
		"a = ? AND b = ?":                    "a = $1 AND b = $2",
		"a = ?2 AND b = ?1 AND c = ?":        "a = $2 AND b = $1 AND c = $3",
		"a = ?12 OR a = ?":                   "a = $12 OR a = $13",
		"a = '?' AND b = ? AND \"c?\" = ?":   "a = '?' AND b = $1 AND \"c?\" = $2",
		"a = 'it''s ?' AND b = '' AND c = ?": "a = 'it''s ?' AND b = '' AND c = $1",
		"a = '?":                             "a = '?",
		"é = ?":                              "é = $1",
	} {
		require.Equal(t, want, numbered(query))
	}
}

func TestValuesAreThoseOfDatabaseSQLWithTruthAsANumber(t *testing.T) {
	t.Parallel()
	var none *int64
	got, err := values([]any{true, false, models.Feed, uint32(7), nil, none, 1.5, []byte("b")})
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), int64(0), string(models.Feed), int64(7), nil, nil, 1.5, []byte("b")}, got)
	_, err = values([]any{struct{}{}})
	require.Error(t, err)
}
