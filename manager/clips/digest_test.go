package clips

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fetch"
)

func TestAnUnchangedFolderIsTheSame(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.mp3": "a", "deep/er/b.mp3": "b", "notes.txt": "n"})
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	defer f.Close()
	o := models.Origin{ID: "o", Kind: models.Media, URI: dir}
	require.NoError(t, f.Trust(o))
	l := &Lister{Fetch: f}
	seen := func(known string) observed {
		s, err := l.read(t.Context(), o, models.Known{Digest: known})
		require.NoError(t, err)
		return s
	}
	first := seen("")
	require.Len(t, first.Episodes, 2)
	require.True(t, seen(first.digest).same)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("other"), 0o644))
	require.True(t, seen(first.digest).same, "not a recording")
	at := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "deep/er/b.mp3"), at, at))
	touched := seen(first.digest)
	require.False(t, touched.same)
	require.NoError(t, os.Rename(filepath.Join(dir, "deep/er"), filepath.Join(dir, "deep/est")))
	require.False(t, seen(touched.digest).same)
	o.Priority = 3
	require.NotEqual(t, prefix(o), prefix(models.Origin{}))
}

func TestAFeedIsItsItems(t *testing.T) {
	t.Parallel()
	digest := func(items string) string {
		all, _, err := parseFeed(t.Context(), []byte(`<rss version="2.0"><channel><lastBuildDate>now</lastBuildDate>`+items+`</channel></rss>`), feedItems)
		require.NoError(t, err)
		require.Len(t, feedTimes(all.Items), 2)
		return feedDigest(all.Items)
	}
	one := `<item><guid>1</guid><title>one</title><pubDate>Sat, 21 Nov 2026 06:00:00 GMT</pubDate></item>`
	two := `<item><guid>2</guid><title>two</title><pubDate>Sun, 22 Nov 2026 06:00:00 GMT</pubDate></item>`
	require.Equal(t, digest(one+two), digest(two+one))
	require.NotEqual(t, digest(one+two), digest(one+`<item><guid>3</guid><pubDate>Sun, 22 Nov 2026 06:00:00 GMT</pubDate></item>`))
}

func TestTheTTLOfAFeedIsReadFromItsHead(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]time.Duration{
		"<rss><channel><ttl>60</ttl><item/></channel></rss>":            time.Hour,
		"<rss><channel><ttl> 5\n</ttl></channel></rss>":                 5 * time.Minute,
		"<rss><channel><item><ttl>60</ttl></item></channel></rss>":      0,
		"<item><ttl>60</ttl></item>":                                    0,
		"<rss><channel><ttl>soon</ttl></channel></rss>":                 0,
		"<rss><channel><ttl>99999999999999999999</ttl></channel></rss>": 0,
		"": 0,
	} {
		require.Equal(t, want, feedTTL([]byte(content)), content)
	}
}

func TestAManifestSelectsBranches(t *testing.T) {
	t.Parallel()
	entries, err := parseManifest([]byte("- uri: https://example.org/a.git\n  kind: git\n  branches: main, release-*\n  tags: v*, w1\n- uri: https://example.org/b\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"main", "release-*"}, entries[0].branches)
	require.Nil(t, entries[1].branches)
	require.Equal(t, []string{"v*", "w1"}, entries[0].tags)
	o, err := entries[0].origin(t.TempDir())
	require.NoError(t, err)
	require.Equal(t, []string{"main", "release-*"}, o.Branches)
	require.Equal(t, []string{"v*", "w1"}, o.Tags)
	for _, bad := range []string{"-rf", "'['", "main,", "a b", "''"} {
		_, err := parseManifest([]byte("- uri: https://example.org/a\n  branches: " + bad + "\n"))
		require.ErrorContains(t, err, "want at most 64 names, patterns", bad)
	}
	_, err = entry{uri: t.TempDir(), kind: models.Folder, branches: []string{"main"}}.origin(t.TempDir())
	require.ErrorContains(t, err, "want a repository or a lister")
}

func TestAManifestFixesIntervals(t *testing.T) {
	t.Parallel()
	entries, err := parseManifest([]byte("- uri: https://example.org/a\n  every: 24h\n- uri: https://example.org/b\n"))
	require.NoError(t, err)
	require.EqualValues(t, 86400, *entries[0].every)
	require.Nil(t, entries[1].every)
	for _, bad := range []string{"soon", "1s", "-1h", "999999999h", ""} {
		_, err := parseManifest([]byte("- uri: https://example.org/a\n  every: " + bad + "\n"))
		require.ErrorContains(t, err, "want 0 (the policy decides), or from 1m to", bad)
	}
}

// The catalog keeps digests. If a later version computed others, it would list all origins again.
func TestADigestIsThatOfEarlierVersions(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"a.mp3": "a", "a.mp3.yaml": "title: A", "#x/y/z.mp3": "z", "deep/er/b.mp3": "b", "deep/er/c.mp3": "c", "deep/est/b.mp3": "b", "deep/d.yaml": "title: D", "notes.txt": "n",
	})
	at := time.Unix(1_700_000_000, 5)
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { return os.Chtimes(path, at, at) }))
	o := originAt(models.Media, dir)
	l := lister(t, o)
	seen, err := l.read(t.Context(), o, models.Known{})
	require.NoError(t, err)
	require.Equal(t, "priority 3, tree:952373f9d74e554ad5e667d3c0f05994d0fd5f9835769c910a35f2e24173ad04", seen.digest)
	items, _, err := parseFeed(t.Context(), []byte(rss(enclosing("b", "b.mp3"), `<item><link>https://example.org/a</link><title>A</title></item>`, enclosing("b", "b.mp3"))), feedItems)
	require.NoError(t, err)
	require.Equal(t, "items:7b7aa590738c3bb308828187167723319ed45e16a01edb48b4609c9aa0ee481e", feedDigest(items.Items))
}

func TestAFileThatIsGoneChangesTheDigestOfItsFolder(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.mp3": "a"})
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	v := folderVisit{root: root, recordings: []string{"a.mp3"}}
	before := v.digest()
	require.NoError(t, os.Remove(filepath.Join(dir, "a.mp3")))
	require.NotEqual(t, before, v.digest())
	require.NotEqual(t, (&folderVisit{root: root}).digest(), v.digest())
}

func TestTheTimesOfAFeedAreTheLatestOfItsItems(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	items := []*gofeed.Item{{}}
	for i := range models.MaxChanges + 1 {
		at := begin.Add(time.Duration(i) * time.Hour)
		items = append(items, &gofeed.Item{PublishedParsed: &at})
	}
	times := feedTimes(items)
	require.Len(t, times, models.MaxChanges)
	require.Equal(t, begin.Add(models.MaxChanges*time.Hour), times[0])
	require.Equal(t, begin.Add(time.Hour), times[len(times)-1])
	require.Len(t, feedTimes(items[:3]), 2)
}

func TestAManifestHasHours(t *testing.T) {
	t.Parallel()
	entries, err := parseManifest([]byte("- uri: https://example.org/a\n  hours: 22:00-06:00@Europe/Berlin\n- uri: https://example.org/b\n"))
	require.NoError(t, err)
	require.Equal(t, models.Hours("22:00-06:00@Europe/Berlin"), *entries[0].hours)
	require.Nil(t, entries[1].hours)
	for _, bad := range []string{"22", "22:00-06:00@Nowhere", ""} {
		_, err := parseManifest([]byte("- uri: https://example.org/a\n  hours: " + bad + "\n"))
		require.ErrorContains(t, err, "want", bad)
	}
}
