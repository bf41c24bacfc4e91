package exec

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
)

const (
	maxLine   = 1 << 10 // bytes of a line that are kept
	keptLines = 20

	// noteInterval is the shortest time between two notes of progress. Progress that comes
	// sooner is not sent.
	noteInterval = 250 * time.Millisecond
)

// messages reads the standard error of a command: lines of progress, and the last other lines.
// One goroutine writes to it; last may be called after that.
type messages struct {
	note func(models.Progress)

	line  []byte    // the unfinished line, at most maxLine bytes of it
	lines []string  // the last keptLines that were not progress
	sent  time.Time // when note was called last
}

// Write takes all of p and never fails, because a failed write would end the command. Of a line it
// keeps maxLine bytes.
func (m *messages) Write(p []byte) (int, error) {
	rest := p
	for {
		before, after, found := bytes.Cut(rest, []byte("\n"))
		m.line = append(m.line, before[:min(len(before), maxLine-len(m.line))]...)
		if !found {
			return len(p), nil
		}
		m.endLine()
		rest = after
	}
}

// endLine ends the line: it passes progress to note, at most once in noteInterval, and keeps any
// other text. Handle calls it once more after the last write, for a line without a line feed.
func (m *messages) endLine() {
	text := strings.TrimRight(strings.ToValidUTF8(string(m.line), "\uFFFD"), "\r")
	m.line = m.line[:0]
	if p, ok := parseProgress(text); ok {
		if time.Since(m.sent) >= noteInterval {
			m.note(p)
			m.sent = time.Now()
		}
		return
	}
	if text == "" {
		return
	}
	if len(m.lines) == keptLines {
		m.lines = m.lines[1:]
	}
	m.lines = append(m.lines, text)
}

// last returns the last lines that were not progress.
func (m *messages) last() []string { return m.lines }

// parseProgress reads "progress FRACTION text", and reports whether a line is of that form with a
// fraction from 0 to 1.
func parseProgress(line string) (models.Progress, bool) {
	rest, ok := strings.CutPrefix(line, "progress ")
	if !ok {
		return models.Progress{}, false
	}
	number, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
	fraction, err := strconv.ParseFloat(number, 64)
	if err != nil || !(fraction >= 0 && fraction <= 1) {
		return models.Progress{}, false
	}
	return models.Progress{Fraction: fraction, Text: strings.TrimSpace(text)}, true
}
