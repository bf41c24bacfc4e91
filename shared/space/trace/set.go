package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"leasehold/shared/process/platform"
)

// earlierFile is a file of a log before the current one.
type earlierFile struct {
	path string
	last uint64 // number of its last event
}

// rotatedName is the name of a file whose last event has a number.
func rotatedName(path string, last uint64) string { return fmt.Sprintf("%s.%012d", path, last) }

// rotated lists the earlier files of the log at path, the oldest first: those with a name that rotatedName makes.
func rotated(path string) (all []earlierFile, err error) {
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		number, ok := strings.CutPrefix(name.Name(), filepath.Base(path)+".")
		last, err := strconv.ParseUint(number, 10, 64)
		if ok && err == nil && name.Name() == filepath.Base(rotatedName(path, last)) {
			all = append(all, earlierFile{filepath.Join(filepath.Dir(path), name.Name()), last})
		}
	}
	slices.SortFunc(all, func(a, b earlierFile) int { return cmp.Compare(a.last, b.last) })
	return all, nil
}

// OpenAll opens the log at path with its earlier files, as one log. If files before these were removed, the log
// begins at the first reload, because that lists all tuples; it is an error if there is none. If there is no log, it
// fails with fs.ErrNotExist. No error has a kind of package fault.
func OpenAll(path string) (io.ReadCloser, error) {
	current, err := platform.OpenShared(path)
	if err != nil {
		return nil, err
	}
	s := &set{files: []*os.File{current}}
	if err := s.addEarlier(path); err != nil {
		return nil, errors.Join(fmt.Errorf("trace: %w", err), s.Close())
	}
	if len(s.files) == 1 {
		s.Reader = current
		return s, nil
	}
	readers := make([]io.Reader, len(s.files))
	for i, f := range s.files {
		readers[i] = f
	}
	if s.Reader, err = fromReload(io.MultiReader(readers...)); err != nil {
		return nil, errors.Join(fmt.Errorf("trace: %s: %w", path, err), s.Close())
	}
	return s, nil
}

// set is the files of a log, the oldest first.
type set struct {
	io.Reader
	files []*os.File
}

// addEarlier opens the earlier files. The current one may be among them, if it was renamed meanwhile; then it is read
// under its new name, and the files after it are left out. A log in anything but a regular file has no earlier files.
// With an error, all open files are in s.files.
func (s *set) addEarlier(path string) error {
	current := s.files[0]
	info, err := current.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	earlier, err := rotated(path)
	if err != nil {
		return err
	}
	s.files = nil
	for _, e := range earlier {
		f, err := platform.OpenShared(e.path)
		if err != nil {
			s.files = append(s.files, current)
			return err
		}
		s.files = append(s.files, f)
		if same, err := f.Stat(); err == nil && os.SameFile(info, same) {
			return current.Close() // what follows was written later
		}
	}
	s.files = append(s.files, current)
	return nil
}

// Close closes all files, and returns all errors.
func (s *set) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// fromReload returns the log from event 1 or, if it begins later, from its first reload, because
// a reload lists all tuples. It is an error if the log begins later and has no reload, if it has
// no events, or if a line before the reload is not an event.
func fromReload(log io.Reader) (io.Reader, error) {
	lines := bufio.NewReaderSize(log, 1<<16)
	first := uint64(0)
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) && first == 0 {
			return nil, errors.New("the log has no events")
		}
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the log begins with event %d, and has no reload behind it: the earlier files were removed (setting trace-files), and a restart of the coordinator writes a reload", first)
		}
		if err != nil {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("a line is not an event: %w", err)
		}
		if first == 0 {
			first = e.Seq
		}
		if e.Seq == 1 || e.Operation == Reload {
			return io.MultiReader(bytes.NewReader(line), lines), nil
		}
	}
}

// readLine reads a line with its line feed. If the last line has none, it is returned with io.EOF. It refuses a line
// of more than maxLine bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line has more than %d bytes", maxLine)
		}
	}
}
