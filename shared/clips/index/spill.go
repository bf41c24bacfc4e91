package index

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"leasehold/shared/process/platform"
	"os"
	"slices"
)

// spill holds the files of a Builder. One has the samples of all clips in order, the other has
// runs of postings, each run sorted.
type spill struct {
	waves, runs *os.File
	samples     int64
	ends        []int64 // end of each run in the file, in bytes
}

// spill moves the buffered samples and postings to the files, and empties the buffers. After an
// error the files may have a part of them, so the Builder must not be used. The postings of a
// call are one run, sorted, which merge joins with the others.
func (b *Builder) spill() (err error) {
	if b.spilled == nil {
		if b.spilled, err = newSpill(b.Dir); err != nil {
			return err
		}
	}
	s := b.spilled
	w := bufio.NewWriterSize(s.waves, 1<<16)
	for _, v := range b.waves {
		put16(w, v)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	slices.Sort(b.postings)
	w.Reset(s.runs)
	for _, p := range b.postings {
		_, _ = w.Write(le.AppendUint64(w.AvailableBuffer(), p)) // Flush returns the error
	}
	if err := w.Flush(); err != nil {
		return err
	}
	s.samples += int64(len(b.waves))
	s.ends = append(s.ends, s.end()+8*int64(len(b.postings)))
	b.waves, b.postings = b.waves[:0], b.postings[:0]
	return nil
}

// newSpill creates the files of a spill in dir, without names.
func newSpill(dir string) (*spill, error) {
	waves, err := unnamed(dir)
	if err != nil {
		return nil, err
	}
	runs, err := unnamed(dir)
	if err != nil {
		return nil, errors.Join(err, waves.Close())
	}
	return &spill{waves: waves, runs: runs}, nil
}

// unnamed creates a file that a killed process does not leave behind.
func unnamed(dir string) (*os.File, error) {
	f, err := platform.CreateUnnamed(dir, "leasehold-index-*")
	if err != nil {
		return nil, fmt.Errorf("disk space for the clip index: %w", err)
	}
	return f, nil
}

// end returns the offset at which the last run ends.
func (s *spill) end() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

func (s *spill) allWaves() io.Reader { return io.NewSectionReader(s.waves, 0, 2*s.samples) }

// merge calls emit with the position of each posting, ordered by hash and within a hash by run,
// which is the order of variants. counts has the number of postings of each hash; merge skips the
// hashes that have none.
func (s *spill) merge(counts []uint32, emit func(position uint32)) error {
	var open []*run
	from := int64(0)
	for _, end := range s.ends {
		r := &run{from: bufio.NewReaderSize(io.NewSectionReader(s.runs, from, end-from), 1<<15)}
		r.next()
		open, from = append(open, r), end
	}
	for h, n := range counts {
		if n == 0 {
			continue
		}
		for _, r := range open {
			for r.err == nil && r.head>>32 == uint64(h) {
				emit(uint32(r.head))
				r.next()
			}
		}
	}
	for _, r := range open {
		if !errors.Is(r.err, io.EOF) {
			return fmt.Errorf("merge the clip index: %w", r.err)
		}
	}
	return nil
}

// run reads one run of postings.
type run struct {
	from *bufio.Reader
	head uint64 // valid while err is nil
	err  error
}

// next reads the next posting into head; err is io.EOF at the end of the run.
func (r *run) next() {
	var raw [8]byte
	if _, r.err = io.ReadFull(r.from, raw[:]); r.err == nil {
		r.head = le.Uint64(raw[:])
	}
}
