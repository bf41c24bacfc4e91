package models_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
)

func TestTheDescribedPatternOfBranchesIsWhatIsAccepted(t *testing.T) {
	t.Parallel()
	described := regexp.MustCompile(models.BranchPattern)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune("ab-[]^*?\\ \x7f\x00é/.")), 0, 12, -1).Draw(t, "name")
		require.Equal(t, models.ValidBranches([]string{name}), described.MatchString(name), "%q", name)
	})
}
