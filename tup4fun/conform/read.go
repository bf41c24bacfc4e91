package conform

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"leasehold/shared/trace"
)

// maxLine bounds a line, as package trace does.
const maxLine = 16 << 20

// ErrNoLog says that what should be a log is none, or has a gap.
var ErrNoLog = errors.New("this is no log of a coordinator (docs/trace.md)")

// read calls each with the events of a log and their lines. A log may begin at any
// reload, so that its old part can be cut off. A last line that is not whole is a
// *tornLine.
func read(r io.Reader, each func(line int, e trace.Event) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var seq uint64
	for n := 1; ; n++ {
		data, whole, err := line(in)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if len(data) == 0 && !whole {
			if n == 1 {
				return fmt.Errorf("%w: it is empty", ErrNoLog)
			}
			return nil
		}
		e, err := unmarshal(data)
		switch {
		case err != nil && !whole && n > 1:
			return &tornLine{n}
		case err != nil:
			return fmt.Errorf("line %d: %w: %w", n, ErrNoLog, err)
		case n == 1 && e.Operation != trace.Reload:
			return fmt.Errorf("line 1: %w: it must begin with a reload, which says what there is: the lines before it are missing", ErrNoLog)
		case n > 1 && e.Seq != seq+1:
			return fmt.Errorf("line %d: %w: seq %d follows seq %d: there is a gap, or lines are out of order", n, ErrNoLog, e.Seq, seq)
		}
		seq = e.Seq
		if err := each(n, e); err != nil {
			return err
		}
	}
}

// line reads a line, and whether it has an end.
func line(in *bufio.Reader) (data []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		data = append(data, part...)
		switch {
		case len(data) > maxLine:
			return nil, false, fmt.Errorf("%w: it has more than %d bytes", ErrNoLog, maxLine)
		case err == nil:
			return bytes.TrimSuffix(data, []byte("\n")), true, nil
		case errors.Is(err, io.EOF):
			return data, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}
