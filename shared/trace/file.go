package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// File is a log in a file, which goes on where it was left. It is not safe for
// concurrent use.
type File struct {
	file   *os.File
	writer *Writer
	before uint64 // events that were in it
	failed func(error)
}

// Open opens the log at path, or makes it. The end of a line that a crash tore is
// cut off; what else is no log is refused, and left as it is. The first write
// that fails ends the log, and is told to failed at once, since a log must not
// stop what it is about; nil tells nobody.
func Open(path string, failed func(error)) (*File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	f := &File{file: file, writer: NewWriter(file), failed: failed}
	if err := f.resume(); err != nil {
		return nil, fmt.Errorf("trace: %s: %w", path, errors.Join(err, file.Close()))
	}
	return f, nil
}

// resume finds the last event, and gets ready to write behind it.
func (f *File) resume() error {
	info, err := f.file.Stat()
	if err != nil || !info.Mode().IsRegular() { // a pipe has no past
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
			return fmt.Errorf("it does not end like a log of events: %.100q", last)
		}
		f.before = e.Seq
	} else if start > 0 || len(tail) > 0 && tail[0] != '{' {
		return errors.New("it is not a log of events")
	}
	end := start + int64(len(whole))
	if err := f.file.Truncate(end); err != nil {
		return err
	}
	_, err = f.file.Seek(end, 0)
	return err
}

// Write appends one event, whose Seq counts from the opening.
func (f *File) Write(e Event) {
	e.Seq += f.before
	sound := f.writer.Err() == nil
	f.writer.Write(e)
	if err := f.writer.Err(); err != nil && sound && f.failed != nil {
		f.failed(fmt.Errorf("trace: event %d could not be written, and nothing is from here on: %w", e.Seq, err))
	}
}

// Close ends the log, and returns the first error that it met.
func (f *File) Close() error { return errors.Join(f.writer.Err(), f.file.Close()) }
