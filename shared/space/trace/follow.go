package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"leasehold/shared/process/platform"
)

// followPause is how often Follow looks for new events at the end of a log.
const followPause = 200 * time.Millisecond

// Follow is OpenAll for a log that goes on: a Read at its end waits for further events, also when the file is renamed
// and the log goes on in a new one. When ctx is done, the log ends there. If files were removed before they were read,
// the numbers of the events have a gap.
func Follow(ctx context.Context, path string) (io.ReadCloser, error) {
	current, err := platform.OpenShared(path)
	if err != nil {
		return nil, err
	}
	s := &set{files: []*os.File{current}}
	if err := s.addEarlier(path); err != nil {
		return nil, errors.Join(fmt.Errorf("trace: %w", err), s.Close())
	}
	last := len(s.files) - 1
	end := &tail{ctx: ctx, path: path, file: s.files[last]}
	readers := make([]io.Reader, 0, len(s.files))
	for _, f := range s.files[:last] {
		readers = append(readers, f)
	}
	log := io.MultiReader(append(readers, end)...)
	if last > 0 {
		if log, err = fromReload(log); err != nil {
			return nil, errors.Join(fmt.Errorf("trace: %s: %w", path, err), s.Close())
		}
	}
	return &followed{Reader: log, earlier: &set{files: s.files[:last]}, end: end}, nil
}

// FollowLatest is Follow from the last reload in the current file on or, if it has none, from its end. So the first
// event may be no reload.
func FollowLatest(ctx context.Context, path string) (io.ReadCloser, error) {
	file, err := platform.OpenShared(path)
	if err != nil {
		return nil, err
	}
	start, err := lastReload(file)
	if err == nil {
		_, err = file.Seek(start, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("trace: %s: %w", path, err), file.Close())
	}
	end := &tail{ctx: ctx, path: path, file: file}
	return &followed{Reader: end, earlier: &set{}, end: end}, nil
}

// lastReload returns where the line of the last reload in a file begins, or else where its last whole line ends.
func lastReload(file io.Reader) (start int64, err error) {
	mark := fmt.Appendf(nil, `,"operation":%q,`, Reload) // quotes in texts have a backslash before them
	lines := bufio.NewReaderSize(file, 1<<16)
	at, found := int64(0), int64(-1)
	for {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF) && found >= 0:
			return found, nil
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return 0, err
		}
		if bytes.Contains(line, mark) {
			found = at
		}
		at += int64(len(line))
	}
}

// followed is a log that goes on.
type followed struct {
	io.Reader
	earlier *set
	end     *tail
}

// Close closes all files, and returns all errors.
func (f *followed) Close() error { return errors.Join(f.earlier.Close(), f.end.file.Close()) }

// tail reads the newest file of a log, and those that follow it.
type tail struct {
	ctx  context.Context
	path string
	file *os.File
}

// Read waits at the end of the log. It returns io.EOF when ctx is done.
func (t *tail) Read(p []byte) (int, error) {
	for {
		n, err := t.file.Read(p)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		next, err := t.next()
		if err != nil {
			return 0, err
		}
		if next == "" {
			select {
			case <-t.ctx.Done():
				return 0, io.EOF
			case <-time.After(followPause):
			}
			continue
		}
		if n, err := t.file.Read(p); n > 0 { // what was written before the file was renamed
			return n, err
		}
		file, err := platform.OpenShared(next) // so that it can be renamed
		if err != nil {
			return 0, err
		}
		if err := t.file.Close(); err != nil {
			return 0, errors.Join(err, file.Close())
		}
		t.file = file
	}
}

// next returns the file behind the one that t reads, or "" if that is the current one or no new one is there yet. If
// the one that t reads was removed, it is the oldest.
func (t *tail) next() (string, error) {
	info, err := t.file.Stat()
	if err != nil {
		return "", err
	}
	current, err := os.Stat(t.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && os.SameFile(info, current) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	earlier, err := rotated(t.path)
	if err != nil {
		return "", err
	}
	paths := make([]string, 0, len(earlier)+1)
	for _, e := range earlier {
		paths = append(paths, e.path)
	}
	paths = append(paths, t.path)
	for i, path := range paths[:len(earlier)] {
		if other, err := os.Stat(path); err == nil && os.SameFile(info, other) {
			return paths[i+1], nil
		}
	}
	return paths[0], nil
}
