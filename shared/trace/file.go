package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// File is a log in a file, to which each process appends. It is not safe for concurrent
// use.
type File struct {
	file   *os.File
	writer *Writer
	before uint64 // events that were in it
	failed func(error)
}

// Open opens the log at path, or makes it. An unfinished last line, which a crash left,
// is cut off; a file that is not a log is refused and left as it is. After a write error
// the log ends and failed, which may be nil, is called once, because tracing must not
// stop the engine.
func Open(path string, failed func(error)) (*File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	f := &File{file: file, writer: NewWriter(file), failed: failed}
	if err := f.resume(); err != nil {
		return nil, fmt.Errorf("trace: %s: %w", path, errors.Join(err, file.Close()))
	}
	return f, nil
}

// resume reads the number of the last event, and positions the file after it.
func (f *File) resume() error {
	info, err := f.file.Stat()
	if err != nil || !info.Mode().IsRegular() { // a pipe has no earlier events
		return err
	}
	tail := make([]byte, min(info.Size(), 2*maxLine))
	start := info.Size() - int64(len(tail))
	if _, err := f.file.ReadAt(tail, start); err != nil {
		return err
	}
	whole := tail[:bytes.LastIndexByte(tail, '\n')+1]
	if len(whole) > 0 {
		last := whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:]
		var e Event
		if err := json.Unmarshal(last, &e); err != nil || e.Seq == 0 {
			return fmt.Errorf("the last line is not an event of a log: %.100q", last)
		}
		f.before = e.Seq
	} else if start > 0 || len(tail) > 0 && tail[0] != '{' {
		return errors.New("the file is not a log of events")
	}
	end := start + int64(len(whole))
	if err := f.file.Truncate(end); err != nil {
		return err
	}
	_, err = f.file.Seek(end, 0)
	return err
}

// Write appends one event. Its Seq counts from the opening; the log's numbers continue
// those before.
func (f *File) Write(e Event) {
	e.Seq += f.before
	sound := f.writer.Err() == nil
	f.writer.Write(e)
	if err := f.writer.Err(); err != nil && sound && f.failed != nil {
		f.failed(fmt.Errorf("trace: event %d could not be written; tracing has stopped: %w", e.Seq, err))
	}
}

// Close closes the file, and returns the first write error.
func (f *File) Close() error { return errors.Join(f.writer.Err(), f.file.Close()) }
