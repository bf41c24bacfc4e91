package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestACuratorThatPutsRecordingsIsTrustedWithNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "one.mp3"), "one")
	f := open(t, Config{})
	require.NoError(t, f.Trust(models.Origin{Kind: models.API, URI: dir}))
	_, err := f.Fetch(t.Context(), ref(FileURI(path)))
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestALocalFileIsNotCopied(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "sub", "a b%20ü.mp3"), "one")
	require.NoError(t, os.Symlink(filepath.Base(path), filepath.Join(dir, "sub", "link.mp3")))
	f := open(t, Config{Roots: []string{dir}})
	for _, name := range []string{path, filepath.Join(dir, "sub", "link.mp3")} {
		file, err := f.Fetch(t.Context(), ref(FileURI(name)))
		require.NoError(t, err)
		require.Equal(t, File{Path: path, Hash: hashOf("one"), Bytes: 3}, file)
		require.NoError(t, file.Close())
	}
	content, err := f.Document(t.Context(), FileURI(path), 3)
	require.NoError(t, err)
	require.Equal(t, "one", string(content))
	_, err = f.Document(t.Context(), FileURI(path), 2)
	require.ErrorIs(t, err, fault.ErrTooLarge)

	_, err = f.Fetch(t.Context(), models.MediaRef{URI: FileURI(path), Hash: hashOf("two")})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	write(t, path, "two")
	require.NoError(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
	_, err = f.Fetch(t.Context(), models.MediaRef{URI: FileURI(path), Hash: hashOf("two")})
	require.NoError(t, err, "the remembered hash is of another time")
}

func TestFault48FilesOutsideTheRootsAreRefused(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	secret := write(t, filepath.Join(outside, "secret"), "secret")
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "absolute")))
	require.NoError(t, os.Symlink("../../../../../../../../etc/passwd", filepath.Join(dir, "relative")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "folder")))
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "device")))
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(dir, "fifo")).Run())
	f := open(t, Config{Roots: []string{dir}})
	for _, path := range []string{
		secret, "/etc/passwd", dir + "/../" + filepath.Base(outside) + "/secret", "/dev/zero", "/proc/self/environ",
		dir + "/absolute", dir + "/relative", dir + "/folder/secret", dir + "/loop", dir + "/device", dir + "/fifo", dir,
	} {
		_, err := f.Fetch(t.Context(), ref(FileURI(path)))
		require.ErrorIs(t, err, fault.ErrInvalid, path)
		_, err = f.Document(t.Context(), "file://"+path, 100)
		require.ErrorIs(t, err, fault.ErrInvalid, path)
	}
	_, err := f.Fetch(t.Context(), ref(FileURI(dir+"/none")))
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestTrustOpensTheFolderOfAnOrigin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	feed := write(t, filepath.Join(dir, "show", "feed.xml"), "<rss/>")
	clip := write(t, filepath.Join(dir, "clips", "a.wav"), "a")
	f := open(t, Config{})
	_, err := f.Folder(filepath.Dir(clip))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "not below a folder that the operator allowed")

	require.NoError(t, f.Trust(models.Origin{Kind: models.Feed, URI: feed}))
	_, err = f.Document(t.Context(), FileURI(feed), 100)
	require.NoError(t, err)
	_, err = f.Fetch(t.Context(), ref(FileURI(clip)))
	require.ErrorIs(t, err, fault.ErrInvalid)

	require.NoError(t, f.Trust(models.Origin{Kind: models.Clips, URI: dir}))
	_, err = f.Fetch(t.Context(), ref(FileURI(clip)))
	require.NoError(t, err)
	for _, path := range []string{dir, filepath.Dir(clip)} {
		root, err := f.Folder(path)
		require.NoError(t, err)
		require.NoError(t, root.Close())
	}
	_, err = f.Folder(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorIs(t, f.Trust(models.Origin{Kind: models.Media, URI: "relative"}), fault.ErrInvalid)
}

func TestHashingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "a"), "a")
	f := open(t, Config{Roots: []string{dir}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Fetch(ctx, ref(FileURI(path)))
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.Document(ctx, FileURI(path), 10)
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {Dir: "x", MaxBytes: -1}, {Dir: "x", Stall: -1}, {Dir: "x", MaxRedirects: -1}, {Dir: "x", CacheBytes: -1}, {Dir: "x", Roots: []string{"relative"}}} {
		_, err := New(c)
		require.ErrorIs(t, err, fault.ErrInvalid)
	}
}

func TestTheFolderOfAnOriginThatWasRemovedIsNotFound(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "clips")
	clip := write(t, filepath.Join(dir, "a.wav"), "a")
	f := open(t, Config{})
	require.NoError(t, f.Trust(models.Origin{Kind: models.Clips, URI: dir}))
	require.NoError(t, os.RemoveAll(dir))
	_, err := f.Fetch(t.Context(), ref(FileURI(clip)))
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = f.Document(t.Context(), FileURI(clip), 10)
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = f.Folder(dir)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorContains(t, err, "no such folder")
}

// A link may be changed between the check of a path and the use of it.
func TestAPathThatLeadsToAnotherFileThanTheOpenOneIsNotReturned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "a"), "a")
	opened, err := os.Stat(path)
	require.NoError(t, err)
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("a", link))
	got, err := withoutLinks(link, opened)
	require.NoError(t, err)
	require.Equal(t, path, got)
	require.NoError(t, os.Remove(link))
	got, err = withoutLinks(link, opened)
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.Empty(t, got)
	write(t, link, "b")
	got, err = withoutLinks(link, opened)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Empty(t, got)
}

func TestAFileThatCannotBeReadHasNoHash(t *testing.T) {
	t.Parallel()
	path := write(t, filepath.Join(t.TempDir(), "a"), "a")
	info, err := os.Stat(path)
	require.NoError(t, err)
	var h hashes
	hash, err := h.of(t.Context(), path, iotest.ErrReader(syscall.EIO), info)
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.Empty(t, hash)
	hash, err = h.of(t.Context(), path, strings.NewReader("a"), info)
	require.NoError(t, err)
	require.Equal(t, hashOf("a"), hash, "the failure is not kept")
	hash, err = h.of(t.Context(), path, iotest.ErrReader(syscall.EIO), info)
	require.NoError(t, err, "the file is not read again")
	require.Equal(t, hashOf("a"), hash)
	for i := len(h.known); i < maxHashes; i++ {
		h.known[stamp{path: fmt.Sprint(i)}] = "other"
	}
	_, err = h.of(t.Context(), path+"2", strings.NewReader("b"), info)
	require.NoError(t, err)
	require.Len(t, h.known, 1, "a full cache of hashes is emptied")
	_, err = h.of(t.Context(), path+"3", strings.NewReader("b"), info)
	require.NoError(t, err)
	require.Len(t, h.known, 2)
}

// Links may lead anywhere within a folder that the operator allowed, also out of one in it.
func TestOfTwoRootsTheOuterOneCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "shared", "a"), "a")
	inner := filepath.Join(dir, "inner")
	require.NoError(t, os.Mkdir(inner, 0o700))
	require.NoError(t, os.Symlink("../shared/a", filepath.Join(inner, "link")))
	for _, roots := range [][]string{{dir, inner}, {inner, dir}, {inner, dir, inner}} {
		f := open(t, Config{Roots: roots})
		file, err := f.Fetch(t.Context(), ref(FileURI(filepath.Join(inner, "link"))))
		require.NoError(t, err)
		require.Equal(t, path, file.Path)
		require.Len(t, f.roots.folders, 2, "a folder is there once")
	}
}

func TestAnErrorOfTheFileSystemHasItsKindAndNoPath(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]error{
		fs.ErrNotExist: fault.ErrNotFound, syscall.ENOTDIR: fault.ErrNotFound, syscall.ENOSPC: fault.ErrOverloaded,
		syscall.EACCES: fault.ErrInvalid, errors.New("path escapes from parent"): fault.ErrInvalid,
	} {
		for _, err := range []error{cause, &fs.PathError{Op: "open", Path: "/secret", Err: cause}} {
			require.ErrorIs(t, fileError(err), want)
			require.NotContains(t, fileError(err).Error(), "secret")
		}
	}
	require.ErrorContains(t, fileError(errors.New("path escapes from parent")), "leads out of the folder")
}

func TestWhatIsNoRegularFileIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Stat(filepath.Join(dir, "socket"))
	require.NoError(t, err)
	device, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	for want, mode := range map[string]fs.FileMode{"a folder": fs.ModeDir | 0o700, "a pipe": fs.ModeNamedPipe, "a socket": info.Mode(), "a device": device.Mode()} {
		require.Equal(t, want, typeName(mode))
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(dir, "pipe")).Run())
	_, _, err = OpenRegular(root, "pipe")
	require.ErrorContains(t, err, "not a regular file but a pipe")
	_, _, err = OpenRegular(root, "none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
