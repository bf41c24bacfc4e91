package clips

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestAFileIsAFeedAlsoInUTF16AndBehindAComment(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"wide.xml": "\xff\xfe<\x00r\x00s\x00s\x00>\x00", "late.xml": "<!-- c --><?xml version='1.1'?><!DOCTYPE a [<!ENTITY b 'c'>]><feed/>",
	})
	for _, name := range []string{"wide.xml", "late.xml"} {
		origins, err := Detect(filepath.Join(dir, name), "")
		require.NoError(t, err)
		require.Equal(t, models.Feed, origins[0].Kind)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"feed.xml": rss("<item/>"), "feed": "\ufeff <feed/>", "feed.json": `{"items":[]}`, "page.xml": "<html/>", "a.mp3": "a", "empty": "",
		"media/deep/a.mp3": "a", "Clips/x.txt": "", "nothing/x.txt": "", "hidden/.x/a.mp3": "a", "hidden/.a.mp3": "a",
		"album.mp3/x": "", "x.bundle": "# v2 git bundle\n", "tree/.git": "gitdir: ../repo/.git/worktrees/tree\n", "tree/a.mp3": "a",
		"show/origins.yaml": "- path: ../feed.xml\n  priority: 4\n- {kind: clips, path: sounds}\n- uri: https://example.org/x.xml\n- path: ../media\n",
		"show/sounds/x":     "", "bare/origins.yaml": "- path: ../show",
	})
	require.NoError(t, os.Symlink(filepath.Join(dir, "feed.xml"), filepath.Join(dir, "media", "link.xml")))
	type want struct {
		kind models.OriginKind
		uri  string
	}
	for path, w := range map[string]want{
		dir + "/feed.xml":                  {models.Feed, dir + "/feed.xml"},
		dir + "/feed":                      {models.Feed, dir + "/feed"},
		dir + "/feed.json":                 {models.Feed, dir + "/feed.json"},
		dir + "/media/link.xml":            {models.Feed, dir + "/feed.xml"},
		dir + "/media/":                    {models.Media, dir + "/media"},
		dir + "/media/../Clips":            {models.Clips, dir + "/Clips"},
		dir:                                {models.Media, dir},
		dir + "/hidden/.x":                 {models.Media, dir + "/hidden/.x"},
		"HTTPS://example.org/x.git":        {models.Git, "https://example.org/x.git"},
		"https://example.org/a b?x=1#frag": {models.Feed, "https://example.org/a%20b?x=1"},
		"HTTP://example.org":               {models.Feed, "http://example.org"},
		"ssh://git@example.org:22/a/b":     {models.Git, "ssh://git@example.org:22/a/b"},
		dir + "/x.bundle":                  {models.Git, dir + "/x.bundle"},
		dir + "/tree":                      {models.Git, dir + "/tree"},
	} {
		got, err := Detect(path, "")
		require.NoError(t, err, path)
		require.Equal(t, []models.Origin{{ID: models.NewID(string(w.kind), w.uri), Kind: w.kind, URI: w.uri}}, got)
		require.True(t, models.ValidID(got[0].ID))
	}
	for _, path := range []string{dir + "/show", dir + "/show/origins.yaml"} {
		got, err := Detect(path, "")
		require.NoError(t, err)
		require.Len(t, got, 4)
		require.Equal(t, models.Origin{ID: models.NewID("feed", dir+"/feed.xml"), Kind: models.Feed, URI: dir + "/feed.xml", Priority: 4}, got[0])
		require.Equal(t, want{models.Clips, dir + "/show/sounds"}, want{got[1].Kind, got[1].URI})
		require.Equal(t, want{models.Feed, "https://example.org/x.xml"}, want{got[2].Kind, got[2].URI})
		require.Equal(t, want{models.Media, dir + "/media"}, want{got[3].Kind, got[3].URI})
	}

	for _, c := range []struct {
		path, kind string
		want       error
		says       string
	}{
		{dir + "/none", "", fault.ErrNotFound, dir + "/none: no such file or folder"},
		{dir + "/none", "clips", fault.ErrNotFound, "no such file or folder"},
		{dir + "/a.mp3", "", fault.ErrInvalid, "not an RSS, Atom or JSON feed; accepted are"},
		{dir + "/page.xml", "", fault.ErrInvalid, "accepted are a feed"},
		{dir + "/empty", "", fault.ErrInvalid, "accepted are a feed"},
		{dir + "/nothing", "", fault.ErrInvalid, "holds no recordings; accepted are"},
		{dir + "/hidden", "", fault.ErrInvalid, "holds no recordings"},
		{dir + "/bare", "", fault.ErrInvalid, "line 1: " + dir + "/show: the folder holds no recordings"},
		{dir + "/media", "films", fault.ErrUsage, `kind "films" does not exist in this version: feed, media, clips, git`},
		{dir + "/media", "directory", fault.ErrUsage, "feed, media, clips"},
		{dir + "/media", "feed", fault.ErrInvalid, "a feed is a file or an http(s) URL"},
		{dir + "/feed.xml", "media", fault.ErrInvalid, "media wants a folder"},
		{"https://example.org/", "clips", fault.ErrInvalid, "clips wants a folder"},
		{"ssh://git@example.org/a", "feed", fault.ErrInvalid, "only a repository (kind git) may have one"},
		{"http://[::1", "", fault.ErrInvalid, "https://HOST"},
		{dir + "/album.mp3", "", fault.ErrInvalid, "holds no recordings"},
		{dir + "/x.bundle", "media", fault.ErrInvalid, "media wants a folder"},
		{"ftp://example.org/", "", fault.ErrInvalid, "https://HOST"},
		{"http://", "", fault.ErrInvalid, "https://HOST"},
		{"", "", fault.ErrInvalid, "the path is empty"},
	} {
		_, err := Detect(c.path, c.kind)
		require.ErrorIs(t, err, c.want, c.path)
		require.ErrorContains(t, err, c.says, c.path)
	}
}

func TestDetectTakesTheUsersWord(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.mp3": "a", "origins.yaml": "nonsense", "not-yet": ""})
	for kind, path := range map[string]string{"clips": dir, "media": dir, "feed": dir + "/not-yet"} {
		got, err := Detect(path, kind)
		require.NoError(t, err)
		require.Equal(t, models.OriginKind(kind), got[0].Kind)
		require.Equal(t, path, got[0].URI)
	}
}

func TestManifestErrorsNameTheLineAndWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for content, says := range map[string]string{
		"":                                     "it lists no origins",
		"[]":                                   "it lists no origins",
		"origins: []":                          "line 1: want a list of origins",
		"- a":                                  "want keys and values: kind, uri, path, priority, every, hours, branches, tags are accepted",
		"- path: a\n  prio: 1":                 `line 2: unknown key "prio": kind, uri, path, priority, every, hours, branches, tags are accepted`,
		"- kind: films\n  path: a":             `line 1: kind "films": feed, media, clips, git, `,
		"- priority: 1":                        "line 1: an origin needs uri or path",
		"- path: a\n  uri: http://x":           "line 2: uri and path are one",
		"- path: http://x/":                    "say uri",
		"- path: ''":                           "is empty or has control characters",
		"- path: \"a\\nb\"":                    "is empty or has control characters",
		"- path: a\n  priority: many":          `line 2: priority "many" is not a whole number`,
		"- path: [a]":                          "path wants a plain value",
		"- path: none":                         "none: no such file or folder",
		"- path: f.xml\n- path: ./f.xml":       "line 2: ",
		"- path: origins.yaml":                 "not an RSS",
		"\t- x":                                "not YAML",
		"[]#" + strings.Repeat("x", 1<<20-3):   "it lists no origins",
		"#" + strings.Repeat("x", 1<<20):       "more than 1048576 bytes",
		"- uri: gopher://x/\n":                 "not a URL that is accepted: http://HOST/… and https://HOST/… are, ssh://HOST/… for repositories, and paths", // no user: it would be printed as xxxxx
		"- uri: https://x.org/\n  kind: clips": "clips wants a folder",
	} {
		dir := tree(t, map[string]string{"origins.yaml": content, "f.xml": "<rss/>"})
		_, err := Detect(dir, "")
		require.Error(t, err, content)
		require.ErrorContains(t, err, says, content)
		require.ErrorContains(t, err, filepath.Join(dir, "origins.yaml"), content)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("- kind: feed\n  uri: https://example.org/x.xml\n- {path: clips, priority: 5}"))
	f.Add([]byte("- &a [*a]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := parseManifest(content)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, e := range entries {
			require.NotEmpty(t, e.uri)
			require.Positive(t, e.line)
		}
	})
}

func TestARepositoryIsRecognisedBareOrWithItsFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string // a name that ends in / is a folder
		want  bool
	}{
		"with its files":              {[]string{".git/HEAD", ".git/objects/", ".git/refs/", "a.mp3"}, true},
		"bare":                        {[]string{"HEAD", "objects/", "refs/"}, true},
		"without HEAD":                {[]string{".git/objects/", ".git/refs/", "a.mp3"}, false},
		"without objects":             {[]string{".git/HEAD", ".git/refs/", "a.mp3"}, false},
		"HEAD is a folder":            {[]string{".git/HEAD/", ".git/objects/", ".git/refs/", "a.mp3"}, false},
		"objects is a file":           {[]string{".git/HEAD", ".git/objects", ".git/refs/", "a.mp3"}, false},
		"a bare one beside a bad one": {[]string{".git/HEAD", "HEAD", "objects/", "refs/"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, f := range c.files {
				path := filepath.Join(dir, f)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				if strings.HasSuffix(f, "/") {
					require.NoError(t, os.MkdirAll(path, 0o700))
				} else {
					require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
				}
			}
			got, err := Detect(dir, "")
			require.NoError(t, err)
			want := models.Media
			if c.want {
				want = models.Git
			}
			require.Equal(t, want, got[0].Kind)
		})
	}
}

// The paths of a manifest are relative to the folder in which it was found.
func TestAManifestMayBeALinkAndNameAbsolutePaths(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"show/clips/x": "", "elsewhere/list.yaml": "- path: clips\n- {path: FILE, priority: 2, every: 24h}\n", "feed.xml": "<rss/>"})
	list := filepath.Join(dir, "elsewhere", "list.yaml")
	content, err := os.ReadFile(list)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(list, []byte(strings.Replace(string(content), "FILE", filepath.Join(dir, "feed.xml"), 1)), 0o600))
	require.NoError(t, os.Symlink("../elsewhere/list.yaml", filepath.Join(dir, "show", "origins.yaml")))
	got, err := Detect(filepath.Join(dir, "show"), "")
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, filepath.Join(dir, "show", "clips"), got[0].URI)
	require.Equal(t, filepath.Join(dir, "feed.xml"), got[1].URI)
	require.EqualValues(t, 2, got[1].Priority)
	require.EqualValues(t, 86400, *got[1].Every)
	require.NoError(t, os.Remove(list))
	_, err = Detect(filepath.Join(dir, "show"), "")
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAFolderNamedByALinkIsDetected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "shows"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "shows", "one.wav"), []byte("RIFF"), 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("shows", link))
	origins, err := Detect(link, "")
	require.NoError(t, err)
	require.Len(t, origins, 1)
	require.Equal(t, models.Media, origins[0].Kind)
	require.Equal(t, link, origins[0].URI)
}
