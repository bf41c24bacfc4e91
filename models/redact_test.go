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

func TestTheUserOfAnOriginIsUsedForItsOwnHostOnly(t *testing.T) {
	t.Parallel()
	const origin = "https://bob:s3cret@example.org:8443/feed.xml"
	for uri, want := range map[string]string{
		"https://example.org:8443/a/one.mp3?x=1":   "https://bob:s3cret@example.org:8443/a/one.mp3?x=1",
		"https://EXAMPLE.org:8443/one.mp3":         "https://bob:s3cret@EXAMPLE.org:8443/one.mp3",
		"https://ann:other@example.org:8443/1.mp3": "https://ann:other@example.org:8443/1.mp3",
		"https://example.org/one.mp3":              "https://example.org/one.mp3",
		"http://example.org:8443/one.mp3":          "http://example.org:8443/one.mp3",
		"https://cdn.example.org:8443/one.mp3":     "https://cdn.example.org:8443/one.mp3",
		"file:///one.mp3":                          "file:///one.mp3",
		"%zz":                                      "%zz",
	} {
		require.Equal(t, want, models.WithUserOf(origin, uri))
		require.Equal(t, uri, models.WithUserOf("https://example.org:8443/feed.xml", uri), "an origin without a user")
		require.Equal(t, uri, models.WithUserOf("/srv/show", uri), "a folder")
	}
}

func TestRedactSecretsReplacesTokensAndTheSecretsOfJoinLinesToo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/tokens/lht-fzmkfqdmbfktaax3rtgsdg33vwtfo5wf4wzje2kbldgztkbympna: not found":                                                           "/tokens/lht-xxxxx: not found",
		"lh1-worker-abcdefgh-abcdefghabcdefghabcdefghabcdefgh-secretsecretsecretsecretsecretse@h:1":                                             "lh1-worker-abcdefgh-abcdefghabcdefghabcdefghabcdefgh-xxxxx@h:1",
		"lh2-worker-abcdefgh-abcdefghabcdefghabcdefghabcdefgh-abcdefghabcdefghabcdefghabcdefgh-1767225600-secretsecretsecretsecretsecretse@h:1": "lh2-worker-abcdefgh-abcdefghabcdefghabcdefghabcdefgh-abcdefghabcdefghabcdefghabcdefgh-1767225600-xxxxx@h:1",
		`invite "lh1-worker-abcdefgh-abcdefghabcdefghabcdefghabcdefgh-secr"`:                                                                    `invite "lh1-worker-abcdefgh-abcdefghabcdefghabcdefghabcdefgh-xxxxx"`,
		"lht- and lh1-worker-":           "lht- and lh1-worker-",
		"https://bob:s3cret@example.org": "https://xxxxx@example.org",
	} {
		require.Equal(t, want, models.RedactSecrets(text))
		require.Equal(t, want, models.RedactSecrets(want), "again")
	}
}
