package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACoordinatorThatWorksAloneHasNoMembers(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.Empty(t, items(h.ok("GET", v1+"/members", "")))
	h.refuses("conflict", "POST", v1+"/upgrade/finish", "")
}
