package trace

import (
	"encoding/json"
	"io"
)

// Writer writes events as JSON lines, each in one write, so that a killed process leaves a whole last line. It is not
// safe for concurrent use; an engine writes its events one after the other.
type Writer struct {
	enc *json.Encoder
	err error
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) *Writer {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &Writer{enc: enc}
}

// Write appends one event. After an error it writes no more; Err returns the error.
func (w *Writer) Write(e Event) {
	if w.err != nil {
		return
	}
	w.err = w.enc.Encode(e)
}

// Err returns the error that ended the log, if any.
func (w *Writer) Err() error { return w.err }
