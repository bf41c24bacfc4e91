package clips

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestMediaFolder(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"b.mp3": "bb", "a.WAV": "a", "sub/deep/c d.flac": "c", "notes.txt": "x", "cover.jpg": "x",
		".hidden.mp3": "x", ".git/x.mp3": "x", "a.WAV.yaml": "title: The first\npriority: 9\naired: 2026-11-21\n",
		"b.yaml": "aired: 2026-11-21T06:00:00+01:00", "stray.yaml": "nonsense: [",
	})
	when := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "b.mp3"), when, when))
	l := list(t, models.Media, dir)
	require.Empty(t, l.Problems)
	require.True(t, l.Complete)
	require.Equal(t, []string{"a.WAV", "b.mp3", "sub/deep/c d.flac"}, names(l))

	a, b, c := l.Episodes[0], l.Episodes[1], l.Episodes[2]
	require.Equal(t, "The first", a.Title)
	require.EqualValues(t, 9, a.Priority)
	require.Equal(t, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), a.Aired)
	require.Equal(t, "b", b.Title)
	require.EqualValues(t, 3, b.Priority)
	require.Equal(t, time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC), b.Aired)
	require.Equal(t, models.MediaRef{URI: "file://" + dir + "/b.mp3", Type: "audio/mpeg", Version: fmt.Sprintf("2-%d", when.UnixNano())}, b.Media)
	require.Equal(t, "file://"+dir+"/sub/deep/c%20d.flac", c.Media.URI)

	require.Equal(t, l, list(t, models.Media, dir), "the same again")
}

func TestClipsFolderKnowsTheirContent(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.wav": "a", "b.wav": "a"})
	l := list(t, models.Clips, dir)
	require.Empty(t, l.Problems, "that two are the same is for the catalog to see")
	require.Len(t, l.Clips, 2)
	require.Equal(t, "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb", l.Clips[0].Media.Hash)
	require.Equal(t, l.Clips[0].Media.Hash, l.Clips[1].Media.Hash)

	path := filepath.Join(dir, "big.wav")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, clipHashBytes+1))
	l = list(t, models.Clips, dir)
	require.Len(t, l.Clips, 3)
	require.Empty(t, l.Clips[2].Media.Hash)
}

func TestFault50And52FilesThatCannotBeCurated(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"secret.wav": "s", "sub/x.wav": "x"})
	for _, kind := range []models.OriginKind{models.Media, models.Clips} {
		dir := tree(t, map[string]string{
			"good.wav": "g", "empty.wav": "", "new\nline.wav": "x", "bad\xff.wav": "x", "bad\xffdir/x.wav": "x", "esc\x1b[31m.txt": "",
			"-rf.wav": "x", "$(reboot).wav": "x", strings.Repeat("long/", 210) + "a.wav": "x", "real/x.wav": "x",
		})
		for link, target := range map[string]string{
			"abs.wav": outside + "/secret.wav", "up.wav": "../../../../../etc/passwd", "loop.wav": "loop.wav",
			"dangling.wav": "none.wav", "alias.wav": "good.wav", "real/loop": "..", "out": outside, "device.wav": "/dev/zero",
		} {
			require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
		}
		require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(dir, "fifo.wav")).Run())
		l := list(t, kind, dir)
		require.Equal(t, []string{"$(reboot).wav", "-rf.wav", "alias.wav", "good.wav", "real/x.wav"}, names(l))
		got := reasons(l)
		for item, reason := range map[string]string{
			"empty.wav": "empty", `"new\nline.wav"`: "control characters", `"bad\xff.wav"`: "not UTF-8", `"bad\xffdir"`: "the folder's name",
			"abs.wav": "leads out of", "up.wav": "leads out of", "loop.wav": "leads nowhere", "dangling.wav": "does not exist",
			"device.wav": "leads out of", "fifo.wav": "not a regular file", "real/loop": "link to a folder", "out": "link to a folder",
			sanitize(strings.Repeat("long/", 210) + "a.wav"): "more than 1024 bytes",
		} {
			require.Contains(t, got[item], reason, item)
		}
		require.Len(t, got, 13)
		require.True(t, l.Complete)
	}
}

func TestALinkToAFolderIsReportedWhenItAppears(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.wav": "a"})
	o := originAt(models.Media, dir)
	f := lister(t, o)
	first, err := f.read(t.Context(), o, models.Known{})
	require.NoError(t, err)
	require.NoError(t, os.Symlink(tree(t, map[string]string{"b.wav": "b"}), filepath.Join(dir, "more")))
	again, err := f.read(t.Context(), o, models.Known{Digest: first.digest})
	require.NoError(t, err)
	require.False(t, again.same)
	require.Contains(t, reasons(again.Listing)["more"], "a link to a folder, which is not followed")
	again, err = f.read(t.Context(), o, models.Known{Digest: again.digest})
	require.NoError(t, err)
	require.True(t, again.same)
}

func TestFolderThatCannotBeReadFailsTheVisit(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"file": "x"})
	for path, want := range map[string]error{dir + "/none": fault.ErrNotFound, dir + "/file": fault.ErrInvalid} {
		o := originAt(models.Media, path)
		_, err := lister(t, o).List(t.Context(), o)
		require.ErrorIs(t, err, want)
		require.ErrorContains(t, err, path)
	}
	l := list(t, models.Media, t.TempDir())
	require.True(t, l.Complete, "an empty folder is a listing")
	require.Empty(t, l.Problems)
}

func TestFolderWithTooManyFilesIsIncomplete(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.wav": "a", "b.wav": "b", "c.wav": "c"})
	o := originAt(models.Media, dir)
	root, err := lister(t, o).Fetch.Folder(dir)
	require.NoError(t, err)
	defer root.Close()
	v := folderVisit{origin: o, root: root, complete: true}
	require.NoError(t, v.findFiles(t.Context(), 3))
	require.Equal(t, []string{"a.wav", "b.wav"}, v.recordings)
	require.False(t, v.complete)
	require.Equal(t, "the folder holds more than the 3 files that are read", v.problems.list[0].Reason)
	v = folderVisit{origin: o, root: root, complete: true}
	require.NoError(t, v.findFiles(t.Context(), 4)) // the folder counts too
	require.Len(t, v.recordings, 3)
	require.True(t, v.complete)
}

func TestWrongSidecarIsAProblemAndTheRecordingIsCuratedWithoutIt(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		"a.wav": "a", "a.wav.yaml": "title: T\npriorty: 4", "b.wav": "b", "b.yaml": strings.Repeat("#", sidecarBytes+1),
		"c.wav": "c", "c.wav.yaml": "title: right", "c.yaml": "title: wrong",
		"e.wav": "e", "e.yaml": "title: full\n" + strings.Repeat("#", sidecarBytes-len("title: full\n")),
	})
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "d.yaml")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.wav"), []byte("d"), 0o600))
	l := list(t, models.Media, dir)
	require.Equal(t, []string{"a.wav", "b.wav", "c.wav", "d.wav", "e.wav"}, names(l))
	require.Equal(t, "full", l.Episodes[4].Title)
	require.Equal(t, "a", l.Episodes[0].Title)
	require.EqualValues(t, 3, l.Episodes[0].Priority)
	require.Equal(t, "right", l.Episodes[2].Title)
	require.Equal(t, map[string]string{
		"a.wav.yaml": `line 2: unknown key "priorty": title, priority, aired are accepted; a.wav is curated without it`,
		"b.yaml":     "it has more than 65536 bytes; b.wav is curated without it",
		"d.yaml":     "leads out of the folder; links must stay within it; d.wav is curated without it",
	}, reasons(l))
}

func TestSidecarValues(t *testing.T) {
	t.Parallel()
	seven := int64(7)
	for content, want := range map[string]sidecar{
		"":                             {},
		"# nothing\n":                  {},
		"title: 2024":                  {title: "2024"},
		"title: |\n  two\n  lines\n":   {title: "two lines"},
		"priority: 7":                  {priority: &seven},
		"aired: 0001-01-02":            {aired: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)},
		"aired: 9999-12-31":            {aired: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)},
		"aired: 2026-11-21T06:00:00Z":  {aired: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)},
		`{"title":"J","priority": +7}`: {title: "J", priority: &seven},
	} {
		got, err := parseSidecar([]byte(content))
		require.NoError(t, err, content)
		require.Equal(t, want, got, content)
	}
	for content, says := range map[string]string{
		"a: 1":                              `line 1: unknown key "a"`,
		"title: a\ntitle: b":                `"title" comes twice`,
		"title: [a]":                        "title wants a plain value",
		"title: ''":                         "title is empty",
		"title:":                            "title is empty",
		"priority: high":                    `priority "high" is not a whole number`,
		"priority: 7.5":                     "not a whole number",
		"priority: '7'":                     "not a whole number",
		"priority: 99999999999999999999":    "not a whole number",
		"aired: yesterday":                  `aired "yesterday": want a date such as`,
		"aired: 0001-01-01T00:00:00+01:00":  "a date such as", // in the year 0 of UTC
		"aired: 9999-12-31T23:30:00-01:00":  "a date such as",
		"aired: 2026-13-01":                 "a date such as",
		"- title":                           "want keys and values",
		"just text":                         "want keys and values",
		"title: &a x\npriority: *a":         "priority wants a plain value",
		"a: &a [x]\nb: &b [*a,*a]\nc: [*b]": `unknown key "a"`,
		"{":                                 "not YAML",
		"\x00":                              "not YAML",
		"? [a]\n: b":                        "unknown key",
	} {
		_, err := parseSidecar([]byte(content))
		require.ErrorIs(t, err, fault.ErrInvalid, content)
		require.ErrorContains(t, err, says, content)
	}
}

func FuzzSidecar(f *testing.F) {
	f.Add([]byte("title: a\npriority: 7\naired: 2026-11-21"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := parseSidecar(content)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Equal(t, sanitize(s.title), s.title)
		_, err = s.aired.MarshalJSON()
		require.NoError(t, err)
	})
}

// endsAfter is a context that ends after so many looks at it.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestAFolderWhoseVisitEndsEarlyIsNoListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".wav")), melody(uint64(i), 1), 0o600))
	}
	o := models.Origin{ID: "o", Kind: models.Clips, URI: dir}
	for looks := 0; ; looks += 1 + looks/3 {
		ctx := &endsAfter{context.Background(), looks}
		listing, err := lister(t, o).List(ctx, o)
		if ctx.left >= 0 {
			require.NoError(t, err)
			require.Len(t, listing.Clips, 3)
			require.Greater(t, looks, 3)
			break
		}
		require.ErrorIs(t, err, context.Canceled, "after %d looks", looks)
		require.Empty(t, listing)
	}
}

func TestThePathOfARecordingIsBounded(t *testing.T) {
	t.Parallel()
	folders := strings.Repeat(strings.Repeat("f", 199)+"/", 5)
	longest := folders + strings.Repeat("a", nameLimit-len(folders)-len(".wav")) + ".wav"
	longer := folders + strings.Repeat("b", nameLimit-len(folders)-len(".wav")) + "b.wav"
	l := list(t, models.Media, tree(t, map[string]string{longest: "a", longer: "b"}))
	require.Equal(t, []string{longest}, names(l))
	require.Len(t, l.Problems, 1)
}

func TestAClipThatCannotBeHashedIsNotCurated(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.wav": "a"})
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	v := folderVisit{origin: originAt(models.Clips, dir), fetch: lister(t).Fetch, root: root} // the fetcher does not trust it
	_, _, err = v.curateFile(t.Context(), "a.wav")
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAFolderWithoutAChangeHasNoListing(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.wav": "a"})
	o := originAt(models.Media, dir)
	l := lister(t, o)
	first, err := l.read(t.Context(), o, models.Known{})
	require.NoError(t, err)
	again, err := l.read(t.Context(), o, models.Known{Digest: first.digest})
	require.NoError(t, err)
	require.True(t, again.same)
	require.Empty(t, again.Episodes)
	require.Equal(t, first.digest, again.digest)
}
