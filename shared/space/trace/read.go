package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// maxLine bounds a line in bytes. An event has one tuple, at most 1 MiB encoded, which
// grows when it is printed and quoted as JSON.
const maxLine = 16 << 20

// Read calls each with every event of a log until its end or the first error, also of each,
// which names the line. Their numbers must begin at 1 and have no gap, so it cannot read a log
// whose first files were removed. Lines longer than 16 MiB are refused.
func Read(r io.Reader, each func(Event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("trace: line %d: %w", n, err)
		}
		if e.Seq != uint64(n) {
			return fmt.Errorf("trace: line %d has seq %d, want %d: the log has a gap", n, e.Seq, n)
		}
		if err := each(e); err != nil {
			return fmt.Errorf("trace: line %d: %w", n, err)
		}
	}
	return lines.Err()
}
