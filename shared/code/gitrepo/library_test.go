package gitrepo

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestTheLibraryIsUsedOnAMachineWithoutGit(t *testing.T) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	require.False(t, openStore(t, Config{}).UsesLibrary())
	t.Setenv("PATH", t.TempDir())
	s := openStore(t, Config{})
	require.True(t, s.UsesLibrary())
	require.Len(t, filesOf(t, mirrorOf(t, s, r.dir), Wanted{}), 1)
}

func TestTheLibraryNamesGitAsTheRemedyForWhatItCannotCopy(t *testing.T) {
	t.Parallel()
	sha256 := newRepo(t, "--object-format=sha256")
	sha256.commit(map[string]string{"a": "one"})
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	bundle := filepath.Join(t.TempDir(), "x.bundle")
	r.git("bundle", "create", bundle, "HEAD", "main")
	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "--quiet", "-b", "other", tree)
	borrower := newRepo(t)
	borrower.commit(map[string]string{"a": "one"})
	require.NoError(t, os.WriteFile(filepath.Join(borrower.dir, ".git/objects/info/alternates"), []byte(r.dir+"/.git/objects\n"), 0o600))
	reftable := newRepo(t)
	reftable.commit(map[string]string{"a": "one"})
	reftable.git("config", "extensions.refStorage", "reftable")
	large := newRepo(t)
	large.commit(map[string]string{"a": strings.Repeat("x", maxObject+1)})
	s := openStore(t, Config{Library: true})
	for uri, kind := range map[string]error{
		sha256.dir: fault.ErrNotFound, bundle: fault.ErrNotFound, tree: fault.ErrNotFound, borrower.dir: fault.ErrNotFound, reftable.dir: fault.ErrNotFound,
		serveGit(t, sha256.dir, "", "").URL + "/.git": fault.ErrNotFound,
		large.dir: fault.ErrTooLarge,
		serveGit(t, large.dir, "", "").URL + "/.git": fault.ErrTooLarge,
	} {
		_, err := mirrorOf(t, s, uri).Fetch(t.Context(), Wanted{})
		require.ErrorIs(t, err, kind, uri)
		require.ErrorContains(t, err, "install git", uri)
	}
}

func TestTheLibraryFetchesOnlyWhatTheMirrorLacks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "one", "dir/b": "two"})
	r.git("branch", "release")
	server := serveGit(t, r.dir, "", "").URL + "/.git"
	for _, uri := range []string{r.dir, server} {
		for _, history := range []bool{false, true} {
			m := mirrorOf(t, openStore(t, Config{Library: true}), uri)
			w := Wanted{Branches: []string{"main", "release"}, History: history}
			_, err := m.Fetch(t.Context(), w)
			require.NoError(t, err)
			r.commit(map[string]string{"dir/c": fmt.Sprint("three ", uri, history)})
			_, err = m.Fetch(t.Context(), w)
			require.NoError(t, err)
			_, err = m.Fetch(t.Context(), w)
			require.NoError(t, err)
			require.Equal(t, r.git("rev-parse", "main"), r.git("--git-dir="+m.dir, "rev-parse", "main"))
			r.git("--git-dir="+m.dir, "fsck", "--strict")
			sizes := packSizes(t, m)
			require.Len(t, sizes, 2)
			require.EqualValues(t, 4, sizes[0], "the commit, two trees and the blob")
		}
	}
}

// A server sends a changed file as a delta of one that the mirror has.
func TestTheLibraryCompletesAPackOfDeltas(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	lines := make([]string, 20_000)
	for i := range lines {
		lines[i] = fmt.Sprintf("%x\n", sha1.Sum([]byte{byte(i), byte(i >> 8)}))
	}
	m := mirrorOf(t, openStore(t, Config{Library: true}), serveGit(t, r.dir, "", "").URL+"/.git")
	for i := range 3 {
		lines[i*100] = "changed\n"
		r.commit(map[string]string{"big": strings.Join(lines, "")})
		r.git("repack", "-q", "-a", "-d", "-f")
		files := filesOf(t, m, Wanted{})
		require.NoError(t, m.Blobs(t.Context(), []string{files["big"].OID}, 1<<20, func(_ string, content []byte, err error) error {
			require.Equal(t, strings.Join(lines, ""), string(content))
			return err
		}))
		r.git("--git-dir="+m.dir, "fsck", "--strict")
	}
	require.Equal(t, []uint32{3, 4, 4}, packSizes(t, m), "the commit, the tree and the file, then also the file before")
}

// packSizes returns how many objects the packs of a mirror have, in ascending order.
func packSizes(t *testing.T, m *Mirror) (sizes []uint32) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(m.dir, "objects/pack/*.pack"))
	require.NoError(t, err)
	for _, pack := range packs {
		content, err := os.ReadFile(pack)
		require.NoError(t, err)
		sizes = append(sizes, binary.BigEndian.Uint32(content[packCount:]))
	}
	slices.Sort(sizes)
	return sizes
}

func TestAMirrorServesBothEnginesInTurn(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	dir := filepath.Join(t.TempDir(), "mirrors")
	for i, lib := range []bool{true, false, true, false, false, true} {
		r.commit(map[string]string{"b": fmt.Sprint(i)})
		m := mirrorOf(t, openStore(t, Config{Dir: dir, Library: lib}), r.dir)
		files := filesOf(t, m, Wanted{})
		require.Equal(t, fmt.Sprint(i), contents(t, m, files["b"].OID)[files["b"].OID])
	}
}

// object is an object of a pack: its kind, its size, and its content.
func object(kind byte, size int, content []byte) []byte {
	b := []byte{kind<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	_, _ = w.Write(content)
	_ = w.Close()
	return append(b, deflated.Bytes()...)
}

// pack returns a pack of objects with its checksum.
func pack(count uint32, objects ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), count)
	b = append(b, bytes.Join(objects, nil)...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func TestAHostilePackIsRefusedByTheLibrary(t *testing.T) {
	t.Parallel()
	blob := object(3, 4, []byte("text"))
	base := plain(t, "blob 4\x00text")
	delta := func(content []byte) []byte { // against the blob
		whole := object(7, len(content), content)
		header := len(whole) - len(object(7, 0, content)) + 1
		return append(append(append([]byte{}, whole[:header]...), base...), whole[header:]...)
	}
	bomb := binary.AppendUvarint(binary.AppendUvarint(nil, 4), 1<<40)
	for name, c := range map[string]struct {
		pack []byte
		kind error
	}{
		"empty":               {nil, fault.ErrCorrupt},
		"no pack":             {bytes.Repeat([]byte("x"), 100), fault.ErrCorrupt},
		"wrong checksum":      {append(pack(1, blob)[:len(pack(1, blob))-1], 'x'), fault.ErrCorrupt},
		"fewer objects":       {pack(2, blob), fault.ErrCorrupt},
		"too many objects":    {pack(maxObjects+1, blob), fault.ErrTooLarge},
		"huge object":         {pack(1, object(3, 1<<40, []byte("text"))), fault.ErrTooLarge},
		"larger than it says": {pack(1, object(3, 4, bytes.Repeat([]byte("text"), 1000))), fault.ErrCorrupt},
		"delta to 1 TiB":      {pack(2, blob, delta(append(bomb, 0x90, 4))), fault.ErrTooLarge},
		"delta without base":  {pack(1, delta(binary.AppendUvarint(binary.AppendUvarint(nil, 4), 4))), fault.ErrCorrupt},
		"unknown kind":        {pack(1, object(5, 4, []byte("text"))), fault.ErrCorrupt},
	} {
		m := library{mirrorOf(t, openStore(t, Config{Library: true}), t.TempDir())}
		r, err := m.prepareMirror(false)
		require.NoError(t, err)
		add := copying{into: r, dir: m.dir, packBytes: 1 << 20}
		err = recoverPanics(func() error {
			return add.addPack(t.Context(), func(out *os.File) error { _, err := out.Write(c.pack); return err })
		})
		require.ErrorIs(t, err, c.kind, name)
		left, err := filepath.Glob(filepath.Join(m.dir, "objects/pack/*"))
		require.NoError(t, err)
		require.Empty(t, left, name)
		require.NoError(t, r.Close())
	}
}

// plain returns the SHA-1 of an object with its header.
func plain(t *testing.T, object string) []byte {
	t.Helper()
	sum := sha1.Sum([]byte(object))
	return sum[:]
}

func TestAServerThatBreaksOffIsUnavailable(t *testing.T) {
	t.Parallel()
	const refs = "application/x-git-upload-pack-advertisement"
	line := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	capabilities := sum + " refs/heads/main\x00side-band-64k shallow ofs-delta\n"
	good := line("# service=git-upload-pack\n") + "0000" + line(capabilities) + "0000"
	for name, c := range map[string]struct {
		kind   string
		refs   string
		answer string
		want   error
	}{
		"a page":             {"text/html", "<html>", "", fault.ErrNotFound},
		"nothing":            {refs, "", "", fault.ErrUnavailable},
		"half a list":        {refs, good[:60], "", fault.ErrUnavailable},
		"not a list":         {refs, "zzzz", "", fault.ErrUnavailable},
		"no answer":          {refs, good, "", fault.ErrCorrupt},
		"a refusal":          {refs, good, line("ERR upload-pack: not our ref " + sum), fault.ErrConflict},
		"half an answer":     {refs, good, line("shallow "+sum) + "0000" + line("NAK\n") + line("\x01PACK"), fault.ErrCorrupt},
		"an error in a pack": {refs, good, line("shallow "+sum) + "0000" + line("NAK\n") + line("\x03\x1b[31mout of memory"), fault.ErrUnavailable},
		"old":                {refs, line(sum+" refs/heads/main\x00ofs-delta\n") + "0000", "", fault.ErrNotFound},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				fmt.Fprint(w, c.answer)
				return
			}
			w.Header().Set("Content-Type", c.kind)
			fmt.Fprint(w, c.refs)
		}))
		_, err := mirrorOf(t, openStore(t, Config{Library: true}), server.URL).Fetch(t.Context(), Wanted{Branches: []string{"main"}})
		server.Close()
		require.ErrorIs(t, err, c.want, name)
		require.NotContains(t, err.Error(), "\x1b", name)
	}
}

func FuzzParseTreeObject(f *testing.F) {
	f.Add([]byte("100644 a\x00" + strings.Repeat("x", 20) + "40000 b\x00" + strings.Repeat("y", 20)))
	f.Add([]byte("100644 a\x00short"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := parseTreeObject(content)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			return
		}
		for _, e := range entries {
			require.NotEmpty(t, e.name)
			require.NotContains(t, e.name, "\x00")
		}
	})
}

func TestAPackThatCannotBeInstalledLeavesNoIndex(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "pack-1.pack"), 0o700)) // in the way of the pack
	pack, err := os.CreateTemp(folder, "tmp_pack_")
	require.NoError(t, err)
	defer pack.Close()
	var objects idxfile.Writer
	require.NoError(t, objects.OnFooter(plumbing.ZeroHash))
	index, err := objects.Index()
	require.NoError(t, err)
	require.Error(t, installPack(folder, pack, "1", index))
	left, err := filepath.Glob(filepath.Join(folder, "*idx*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
