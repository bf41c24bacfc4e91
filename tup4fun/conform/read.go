package conform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"leasehold/shared/space/trace"
)

// maxLine bounds the bytes of a line, as package trace does.
const maxLine = 16 << 20

// ErrNoLog reports that the input is not a log of a coordinator, or that lines are
// missing.
var ErrNoLog = errors.New("not a log of a coordinator (docs/trace.md)")

// read calls each with the events of a log and their line numbers, and ends with its first error. A
// log may begin at any reload, so that the part before it can be cut off. An incomplete last line
// is a *tornLine. It fails with ErrNoLog if the input is not a log. If it has a gap, read calls missed with that error
// before each, and ends with the error that this returns.
func read(r io.Reader, missed func(error) error, each func(line int, e trace.Event) error) error {
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
		var e trace.Event
		err = json.Unmarshal(data, &e)
		switch {
		case err != nil && !whole && n > 1:
			return &tornLine{n}
		case err != nil:
			return fmt.Errorf("line %d: %w: %w", n, ErrNoLog, err)
		case n == 1 && e.Operation != trace.Reload:
			err = fmt.Errorf("line 1: %w: want a reload first, which lists all tuples: the lines before are missing", ErrNoLog)
		case n > 1 && e.Seq != seq+1:
			err = fmt.Errorf("line %d: %w: seq %d follows seq %d: there is a gap, or lines are out of order", n, ErrNoLog, e.Seq, seq)
		}
		if err != nil {
			if err := missed(err); err != nil {
				return err
			}
		}
		seq = e.Seq
		if err := each(n, e); err != nil {
			return err
		}
	}
}

// line reads a line without its newline. whole reports whether it had one: the last line
// may lack it. At the end of the input data is empty, whole is false, and err is nil. A
// line of more than maxLine bytes is ErrNoLog.
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
