package conformance

import (
	"bytes"
	"encoding/json"

	"leasehold/models"
)

// maxNote bounds a line that the process prints.
const maxNote = 64 << 10

// notes reads the lines that the process prints. Other lines are left out.
type notes struct {
	each func(models.CheckNote)
	line []byte // incomplete
}

// Write takes a part of the output.
func (n *notes) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, whole := bytes.Cut(rest, []byte("\n"))
		if len(n.line)+len(part) <= maxNote {
			n.line = append(n.line, part...)
		}
		rest = after
		if !whole {
			break
		}
		var note models.CheckNote
		if json.Unmarshal(n.line, &note) == nil {
			n.each(note)
		}
		n.line = n.line[:0]
	}
	return len(p), nil
}
