package worker

import (
	"strings"
	"sync"

	"leasehold/models"
)

// maxLines is how many bytes of its lines a job keeps.
const maxLines = 2 << 10

// lines are the last lines that a handler has noted.
type lines struct {
	mu   sync.Mutex // guards kept
	kept string     // at most maxLines bytes
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept += line + "\n"
	if over := len(l.kept) - maxLines; over > 0 {
		l.kept = strings.ToValidUTF8(strings.Clone(l.kept[over:]), "")
	}
}

// text returns the lines without the passwords of URLs.
func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return models.Redact(l.kept)
}
