package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Limits bound a log on disk. A file that has reached Bytes is renamed, and the log goes on
// in a new one; the oldest are removed so that at most Files are there, the current one
// included. Bytes 0: the file is never renamed.
type Limits struct {
	Bytes int64
	Files int
}

// File is a log in a file, to which each process appends, and the earlier files of that log
// beside it. It is not safe for concurrent use.
type File struct {
	path   string
	limits Limits
	file   *os.File
	size   int64 // bytes in file
	writer *Writer
	before uint64 // events that were in the log
	last   uint64 // number of the last event
	err    error  // of a rotation
	failed func(error)
}

// Open opens the log at path, or makes it. An unfinished last line, which a crash left, is cut off; a file other than
// a log is refused and left as it is. After a write error the log ends and failed, which may be nil, is called once,
// because tracing must not stop the engine. The errors have no kind of package fault.
func Open(path string, limits Limits, failed func(error)) (*File, error) {
	f := &File{path: path, limits: limits, failed: failed}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if err := f.resume(); err != nil {
		return nil, fmt.Errorf("trace: %s: %w", path, errors.Join(err, f.file.Close()))
	}
	return f, nil
}

// open opens the current file, or makes it, with a new writer.
func (f *File) open() (err error) {
	if f.file, err = os.OpenFile(f.path, os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		f.writer = NewWriter(counter{f})
	}
	return err
}

// counter counts the bytes of a file.
type counter struct{ f *File }

// Write writes to the current file, which rotate replaces.
func (c counter) Write(b []byte) (int, error) {
	n, err := c.f.file.Write(b)
	c.f.size += int64(n)
	return n, err
}

// resume reads the number of the last event, and positions the file after it. It reads two lines' length from the end
// at most, because a line has at most maxLine bytes. An unfinished last line is cut off; a file without events goes
// on after the last rotated one. A file that has no event there, and does not begin as one, is an error and stays as
// it is.
func (f *File) resume() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // a pipe has no earlier events, and is not renamed
		f.limits.Bytes = 0
		return nil
	}
	tail := make([]byte, min(info.Size(), 2*maxLine))
	start := info.Size() - int64(len(tail))
	if _, err := f.file.ReadAt(tail, start); err != nil {
		return err
	}
	whole := tail[:bytes.LastIndexByte(tail, '\n')+1]
	switch {
	case len(whole) > 0:
		last := whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:]
		var e Event
		if err := json.Unmarshal(last, &e); err != nil || e.Seq == 0 {
			return fmt.Errorf("the last line is not an event of a log: %.100q", last)
		}
		f.before = e.Seq
	case start > 0 || len(tail) > 0 && tail[0] != '{': // no line of a log is that long, or begins with another byte
		return errors.New("the file is not a log of events")
	default: // it was just begun
		earlier, err := rotated(f.path)
		if err != nil {
			return err
		}
		if len(earlier) > 0 {
			f.before = earlier[len(earlier)-1].last
		}
	}
	f.last, f.size = f.before, start+int64(len(whole))
	if err := f.file.Truncate(f.size); err != nil {
		return err
	}
	_, err = f.file.Seek(f.size, 0)
	return err
}

// Write appends one event, in a new file if the current one has reached its limit. Its Seq
// counts from the opening; the log's numbers continue those before. After an error it does
// nothing; failed has been called then.
func (f *File) Write(e Event) {
	if f.Err() != nil {
		return
	}
	e.Seq += f.before
	if f.limits.Bytes > 0 && f.size >= f.limits.Bytes {
		f.err = f.rotate()
	}
	if f.err == nil {
		f.writer.Write(e)
		f.last = e.Seq
	}
	if err := f.Err(); err != nil && f.failed != nil {
		f.failed(fmt.Errorf("trace: event %d could not be written; tracing has stopped: %w", e.Seq, err))
	}
}

// rotate renames the file after its last event and begins a new one, and removes the oldest, so that at most
// limits.Files are there. After an error the log has ended.
func (f *File) rotate() error {
	if err := f.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.path, rotatedName(f.path, f.last)); err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	f.size = 0
	earlier, err := rotated(f.path)
	if err != nil {
		return err
	}
	for ; len(earlier) >= max(f.limits.Files, 1); earlier = earlier[1:] {
		if err := os.Remove(earlier[0].path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Last returns the number of the last event of the log.
func (f *File) Last() uint64 { return f.last }

// Err returns the error that ended the log, if any.
func (f *File) Err() error { return errors.Join(f.err, f.writer.Err()) }

// Close closes the file, and returns the first write error. After a rotation that failed the
// file may be closed already; that error is left out.
func (f *File) Close() error {
	err := f.file.Close()
	if f.err != nil && errors.Is(err, os.ErrClosed) { // a rotation failed
		err = nil
	}
	return errors.Join(f.Err(), err)
}
