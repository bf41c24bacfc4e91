package cmd

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"

	"leasehold/models"
)

// maxHeld bounds how much of a write is held back; a longer user and password may be printed.
const maxHeld = 8 << 10

// redactor removes the users and passwords of URLs from what commands print and log. It holds back the end of
// a write that may be the beginning of such a URL until the next write or flush. Invalid UTF-8 is redacted
// too, because a writer such as csv.Writer cuts its text into blocks that may end within a character. It may
// be used concurrently.
type redactor struct {
	to io.Writer

	mu   sync.Mutex // guards held
	held []byte
}

// openURL is the end of a text behind which the rest of a user and a password may follow.
var openURL = regexp.MustCompile("(?::/?|://[^\\s/?#\"'`<>\\\\]*)$")

// Write writes p without users and passwords. If p ends within a URL, whose password may come with the next
// call, it holds back that URL, at most maxHeld bytes of it; also then it returns len(p). It returns 0 if
// writing fails.
func (r *redactor) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := p
	if len(r.held) > 0 {
		text = append(r.held, p...)
		r.held = nil
	}
	if at := openURL.FindIndex(text); at != nil && len(text)-at[0] <= maxHeld {
		r.held = bytes.Clone(text[at[0]:])
		text = text[:at[0]]
	}
	if len(text) == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(r.to, models.Redact(string(text))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes the part that was held back.
func (r *redactor) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) > 0 { // a pipe without a reader blocks an empty write too
		_, _ = io.WriteString(r.to, models.Redact(string(r.held))) // the writes before it have reported errors
		r.held = nil
	}
}

// fileOf returns the file that w writes to; nil if it is none.
func fileOf(w io.Writer) *os.File {
	if f, ok := w.(*frame); ok {
		w = f.to
	}
	if r, ok := w.(*redactor); ok {
		w = r.to
	}
	f, _ := w.(*os.File)
	return f
}
