// Package match finds a code.Pattern in text, and tells an index which literal texts
// a match must have.
//
// A regular expression is slow on much text. So New first derives the literals that each
// match has (Need): an index reads only chunks or files with them, and Matcher.Lines runs
// the expression only on lines with one of them. Every index verifies its candidates with
// a Matcher, so that all of them find the same lines.
package match
