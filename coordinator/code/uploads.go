package code

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// Bounds of uploads.
const (
	maxSegment = 64 << 20  // bytes of one segment; one of a batch of 8 MiB is below 16 MiB
	maxUploads = 1 << 30   // bytes of all uploads that are not complete
	maxIdle    = time.Hour // after which an upload that nothing continues is removed
)

const partial = ".part"

var wellFormedHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// uploads are the segments that are not complete yet.
type uploads struct {
	dir string

	mu   sync.Mutex // guards busy
	busy map[string]bool
}

func (u *uploads) path(hash string) string { return filepath.Join(u.dir, hash+partial) }

// lock makes the caller the only user of an upload until it calls release.
func (u *uploads) lock(hash string) (release func(), err error) {
	if !wellFormedHash.MatchString(hash) {
		return nil, fmt.Errorf("segment %.80q: %w: want the SHA-256 in 64 lower-case hexadecimal digits", hash, fault.ErrInvalid)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.busy[hash] {
		return nil, fmt.Errorf("segment %s: %w: another request sends it", hash, fault.ErrUnavailable)
	}
	u.busy[hash] = true
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.busy, hash)
	}, nil
}

// Received returns how many bytes of a segment were received; 0 for an unknown one. Errors: fault.ErrInvalid for
// a malformed hash, fault.ErrFolder if the upload cannot be read.
func (x *Index) Received(hash string) (int64, error) {
	if !wellFormedHash.MatchString(hash) {
		return 0, fmt.Errorf("segment %.80q: %w: want the SHA-256 in 64 lower-case hexadecimal digits", hash, fault.ErrInvalid)
	}
	return x.uploads.receivedBytes(hash)
}

// receivedBytes returns how many bytes of an upload were received; 0 if it has not begun.
func (u *uploads) receivedBytes(hash string) (int64, error) {
	info, err := os.Stat(u.path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("segment %s: %w: %w", hash, fault.ErrFolder, err)
	}
	return info.Size(), nil
}

// Append adds a part of a segment at an offset, and returns how many bytes were received so far. A part whose
// offset is before these changes nothing. Errors: fault.ErrConflict if the offset is behind them,
// fault.ErrTooLarge for more than maxSegment, fault.ErrOverloaded if all uploads take more than maxUploads or the
// part cannot be written, fault.ErrFolder if the file cannot be opened.
func (x *Index) Append(_ context.Context, hash string, offset int64, part []byte) (received int64, err error) {
	u := &x.uploads
	release, err := u.lock(hash)
	if err != nil {
		return 0, err
	}
	defer release()
	if received, err = u.receivedBytes(hash); err != nil {
		return 0, err
	}
	switch {
	case offset < received:
		return received, nil // a repetition; Commit compares the hash of the whole
	case offset > received:
		return received, fmt.Errorf("segment %s: %w: the part begins at %d, and %d bytes were received", hash, fault.ErrConflict, offset, received)
	case received+int64(len(part)) > maxSegment:
		return received, fmt.Errorf("segment %s: %w: more than %d bytes", hash, fault.ErrTooLarge, maxSegment)
	}
	if received == 0 { // a new upload
		if err := u.removeOld(maxIdle); err != nil {
			return 0, err
		}
		if total, err := u.totalBytes(); err != nil || total > maxUploads {
			return 0, errors.Join(fmt.Errorf("segment %s: %w: other uploads take %d bytes", hash, fault.ErrOverloaded, total), err)
		}
	}
	f, err := os.OpenFile(u.path(hash), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return received, fmt.Errorf("segment %s: %w: %w", hash, fault.ErrFolder, err)
	}
	n, err := f.Write(part)
	if err = errors.Join(err, f.Close()); err != nil {
		err = fmt.Errorf("segment %s: %w: %w", hash, fault.ErrOverloaded, err)
	}
	return received + int64(n), err
}

// Commit puts a segment into the index, when all of its bytes were received. It is durable when Commit returns
// nil; then the upload is removed, and a second call fails with fault.ErrNotFound. A segment that is malformed or
// has another hash is removed (fault.ErrCorrupt), so that it can be sent again. Commit fails with fault.ErrFolder
// if the upload cannot be read.
func (x *Index) Commit(ctx context.Context, batch, hash string) error {
	u := &x.uploads
	release, err := u.lock(hash)
	if err != nil {
		return err
	}
	defer release()
	sum, err := sumOf(u.path(hash))
	if err != nil {
		return fmt.Errorf("segment %s: no part was received: %w: %w", hash, fault.ErrNotFound, err)
	}
	if sum != hash {
		return errors.Join(fmt.Errorf("segment %s: %w: its hash is %s", hash, fault.ErrCorrupt, sum), os.Remove(u.path(hash)))
	}
	complete := filepath.Join(u.dir, hash+segment.Extension)
	if err := os.Rename(u.path(hash), complete); err != nil {
		return fmt.Errorf("segment %s: %w: %w", hash, fault.ErrFolder, err)
	}
	err = x.PutSegment(ctx, batch, complete)
	if removed := os.Remove(complete); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// eachFile calls visit with the files of uploads. A file that disappears meanwhile is left out.
func (u *uploads) eachFile(visit func(path string, info fs.FileInfo) error) error {
	entries, err := os.ReadDir(u.dir)
	if err != nil {
		return fmt.Errorf("uploads of the code index: %w: %w", fault.ErrFolder, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			if err := visit(filepath.Join(u.dir, e.Name()), info); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeOld removes the uploads that were not continued for idle, except those in use. The name of each file
// begins with the hash.
func (u *uploads) removeOld(idle time.Duration) error {
	return u.eachFile(func(path string, info fs.FileInfo) error {
		hash, _, _ := strings.Cut(filepath.Base(path), ".")
		u.mu.Lock()
		defer u.mu.Unlock()
		if time.Since(info.ModTime()) < idle || u.busy[hash] {
			return nil
		}
		return os.Remove(path)
	})
}

func (u *uploads) totalBytes() (bytes int64, err error) {
	err = u.eachFile(func(_ string, info fs.FileInfo) error {
		bytes += info.Size()
		return nil
	})
	return bytes, err
}
