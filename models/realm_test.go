package models_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestTheNameOfARealmNeedsNoQuotes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"default": true, "a": true, "a_1": true, strings.Repeat("a", 40): true,
		"": false, "1a": false, "_a": false, "A": false, "a-b": false, "a b": false, "ä": false, "a;": false, strings.Repeat("a", 41): false,
	} {
		require.Equal(t, want, models.ValidRealm(name), "%q", name)
	}
}
