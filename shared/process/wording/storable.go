package wording

import "strings"

// Storable returns a text as every database can keep it: NUL, and bytes that are not UTF-8, are U+FFFD. PostgreSQL
// refuses them, SQLite does not.
func Storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// IsStorable reports whether Storable leaves a text as it is.
func IsStorable(s string) bool { return Storable(s) == s }
