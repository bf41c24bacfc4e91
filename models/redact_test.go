package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestRedactReplacesUsersAndPasswordsOfAllURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://bob:s3cret@example.org/feed.xml":       "https://xxxxx@example.org/feed.xml",
		"https://token@example.org":                     "https://xxxxx@example.org",
		"https://bob:p@ss@example.org/a@b":              "https://xxxxx@example.org/a@b",
		`fetch "http://a:b@x/": GET ftp://c@y/ failed`:  `fetch "http://xxxxx@x/": GET ftp://xxxxx@y/ failed`,
		`{"uri":"https://bob:s3cret@x","mail":"me@x"}`:  `{"uri":"https://xxxxx@x","mail":"me@x"}`,
		"https://example.org/@user/feed?from=me@home#@": "https://example.org/@user/feed?from=me@home#@",
		"mail me@example.org about https://example.org": "mail me@example.org about https://example.org",
		"https://example.org?to=me@x":                   "https://example.org?to=me@x",
		"":                                              "", "file:///srv/a@b": "file:///srv/a@b",
	} {
		require.Equal(t, want, models.Redact(text))
		require.Equal(t, want, models.Redact(want), "again")
	}
}
