package wording

import "strings"

// Tail is a writer that keeps the last bytes that a program prints.
type Tail struct{ kept []byte }

// Write always succeeds.
func (t *Tail) Write(p []byte) (int, error) {
	const longest = 400
	t.kept = append(t.kept, p[max(0, len(p)-longest):]...)
	t.kept = t.kept[max(0, len(t.kept)-longest):]
	return len(p), nil
}

// LastLine returns the last line with text, in valid UTF-8.
func (t *Tail) LastLine() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD"))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
