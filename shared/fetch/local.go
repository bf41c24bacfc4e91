package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// maxHashes limits the cached hashes of local files, to about 2 MB.
const maxHashes = 10_000

// FileURI returns the file:// URI of an absolute path.
func FileURI(path string) string {
	return platform.FileURI(path).String()
}

// local returns a file of this machine without copying it. Its path has no links. want is the hash that it must
// have, or empty. It fails if the path is outside of the roots, or if the file was replaced meanwhile.
func (f *Fetcher) local(ctx context.Context, u *url.URL, want string) (File, error) {
	src, info, err := f.roots.open(filepath.Clean(platform.FilePath(u)))
	if err != nil {
		return File{}, err
	}
	defer src.Close()
	path, err := withoutLinks(filepath.Clean(platform.FilePath(u)), info)
	if err != nil {
		return File{}, err
	}
	hash, err := f.hashes.of(ctx, path, src, info)
	if err != nil {
		return File{}, err
	}
	if want != "" && want != hash {
		return File{}, fmt.Errorf("its hash is %s, not %s: %w", hash, want, fault.ErrCorrupt)
	}
	return File{Path: path, Hash: hash, Bytes: info.Size()}, nil
}

// withoutLinks returns the path of an opened file, info, without links. It fails if the path now leads to another
// file, because the caller would read that one.
func withoutLinks(path string, info fs.FileInfo) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fileError(err)
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(now, info) {
		return "", fmt.Errorf("changed while it was opened: %w", fault.ErrUnavailable)
	}
	return path, nil
}

// hashes caches the hashes of local files.
type hashes struct {
	mu    sync.Mutex
	known map[stamp]string // guarded by mu
}

// A stamp changes when the content of a file changes, unless its time is set back.
type stamp struct {
	path     string
	bytes    int64
	modified time.Time
}

// of returns the hash of a file, reading it at most once while its stamp is the same. A full cache is emptied,
// because its entries have no order of use. Two calls may read one file at the same time, because reading does
// not hold the lock.
func (h *hashes) of(ctx context.Context, path string, r io.Reader, info fs.FileInfo) (string, error) {
	at := stamp{path, info.Size(), info.ModTime()}
	h.mu.Lock()
	hash, ok := h.known[at]
	h.mu.Unlock()
	if ok {
		return hash, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, &interruptible{ctx, r}); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fileError(err)
	}
	hash = hashPrefix + hex.EncodeToString(sum.Sum(nil))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) >= maxHashes {
		h.known = map[stamp]string{}
	}
	h.known[at] = hash
	return hash, nil
}

// interruptible is a reader that fails once its context has ended.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read reads, unless ctx has ended; then it returns its error.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
