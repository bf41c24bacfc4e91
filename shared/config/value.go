package config

import (
	"errors"
	"log/slog"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/process/wording"
)

// A value reads one field of a Config from text and shows it again.
type value interface {
	set(text string) error // accepts is shown in place of the error
	accepts() string
	kind() string // the placeholder of the value in the help of a flag
	String() string
}

var errNotAccepted = errors.New("not accepted")

// word is one of words.
type word struct {
	to    *string
	words []string
}

// set reads one of the words; another is errNotAccepted.
func (w word) set(text string) error {
	for _, ok := range w.words {
		if text == ok {
			*w.to = text
			return nil
		}
	}
	return errNotAccepted
}
func (w word) accepts() string { return wording.Or(w.words...) }
func (w word) kind() string    { return "name" }
func (w word) String() string  { return *w.to }

// truth is true or false.
type truth struct{ to *bool }

// set reads true or false, as strconv.ParseBool does. Other text is errNotAccepted.
func (t truth) set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return errNotAccepted
	}
	*t.to = v
	return nil
}
func (t truth) accepts() string { return "true or false" }
func (t truth) kind() string    { return "" }
func (t truth) String() string  { return strconv.FormatBool(*t.to) }

// words is a list of some of the known words.
type words struct {
	to    *[]string
	known []string
	hint  string // follows the known words in errors
}

// set reads words, separated by commas. Spaces around them are removed; empty text is an empty list.
// errNotAccepted: one is unknown.
func (w words) set(text string) error {
	var list []string
	if strings.TrimSpace(text) == "" {
		*w.to = nil
		return nil
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if err := (word{&item, w.known}).set(item); err != nil {
			return errNotAccepted
		}
		list = append(list, item)
	}
	*w.to = list
	return nil
}
func (w words) accepts() string { return "a list of " + wording.Or(w.known...) + ", or empty" + w.hint }
func (w words) kind() string    { return "list" }
func (w words) String() string  { return strings.Join(*w.to, ",") }

// pairs is NAME=VALUE, separated by commas. The package that uses it checks the names.
type pairs struct{ to *string }

var pair = regexp.MustCompile(`^ *([a-z0-9_-]+\.)?[a-z-]+=[^=,]+$`)

// set keeps the text if each item between commas has the form of a pair. Their names and values
// are checked by the part of the program that they are for, which this package does not import.
// Text of another form is errNotAccepted.
func (p pairs) set(text string) error {
	for _, one := range strings.Split(text, ",") {
		if !pair.MatchString(one) {
			return errNotAccepted
		}
	}
	*p.to = text
	return nil
}
func (p pairs) accepts() string { return "NAME=VALUE, separated by commas" }
func (p pairs) kind() string    { return "rules" }
func (p pairs) String() string  { return *p.to }

// policies is NAME, or NAME and KIND=NAME, separated by commas. The package that uses it
// checks the names.
type policies struct{ to *string }

var policy = regexp.MustCompile(`^([a-z0-9_-]+=)?[a-z0-9-]+$`)

// set keeps the text if each item between commas has the form of a policy. Package policy checks
// their names. Text of another form is errNotAccepted.
func (p policies) set(text string) error {
	for _, one := range strings.Split(text, ",") {
		if !policy.MatchString(one) {
			return errNotAccepted
		}
	}
	*p.to = text
	return nil
}
func (p policies) accepts() string { return "NAME, or NAME,KIND=NAME" }
func (p policies) kind() string    { return "policies" }
func (p policies) String() string  { return *p.to }

// hostGroups is NAME=PATTERN,PATTERN,NAME=PATTERN. The package that uses it checks more.
type hostGroups struct{ to *string }

var hostGroupItems = regexp.MustCompile(`^ *[a-z0-9_-]+=[^=,/ ]+( *, *([a-z0-9_-]+=)?[^=,/ ]+)* *$`)

// set keeps the text if it has the form of host groups. Package policy checks their names and
// patterns. Text of another form is errNotAccepted.
func (g hostGroups) set(text string) error {
	if !hostGroupItems.MatchString(text) {
		return errNotAccepted
	}
	*g.to = text
	return nil
}
func (g hostGroups) accepts() string {
	return "NAME=PATTERN,PATTERN, such as acast=*.acast.com,*.acast.net"
}
func (g hostGroups) kind() string   { return "groups" }
func (g hostGroups) String() string { return *g.to }

// contact is a URL or a mail address that fits into the comment of a User-Agent.
type contact struct{ to *string }

var contactForm = regexp.MustCompile(`^(https?://[!-'*-~]+|(mailto:)?[A-Za-z0-9.!#$%&'*+=?^_{|}~-]+@[A-Za-z0-9.-]+)$`)

// set reads a URL or mail address of at most 200 bytes; empty text is none. Other text is errNotAccepted, also text
// with spaces, parentheses or control characters.
func (c contact) set(text string) error {
	if text != "" && (len(text) > 200 || !contactForm.MatchString(text)) {
		return errNotAccepted
	}
	*c.to = text
	return nil
}
func (c contact) accepts() string {
	return "an http(s) URL or a mail address, such as crawler@example.org, of at most 200 characters without spaces and parentheses"
}
func (c contact) kind() string   { return "contact" }
func (c contact) String() string { return *c.to }

// label is a name that may be printed: 1 to 255 bytes of UTF-8 without control characters.
type label struct{ to *string }

// set reads 1 to 255 bytes of UTF-8 without control characters; other text is errNotAccepted.
func (l label) set(text string) error {
	if text == "" || len(text) > 255 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return errNotAccepted
	}
	*l.to = text
	return nil
}
func (l label) accepts() string { return "1 to 255 bytes of text" }
func (l label) kind() string    { return "name" }
func (l label) String() string  { return *l.to }

// realm is the name of a realm, which is a part of names in the database.
type realm struct{ to *string }

// set keeps the text if it has the form of a realm; other text is errNotAccepted.
func (r realm) set(text string) error {
	if !models.ValidRealm(text) {
		return errNotAccepted
	}
	*r.to = text
	return nil
}
func (r realm) accepts() string {
	return models.RealmForm
}
func (r realm) kind() string   { return "name" }
func (r realm) String() string { return *r.to }

// prefix is the beginning of names of indices on a search server; it may be empty.
type prefix struct{ to *string }

var prefixForm = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]{0,49})?$`)

// set keeps the text if it has the form of a prefix; other text is errNotAccepted.
func (p prefix) set(text string) error {
	if !prefixForm.MatchString(text) {
		return errNotAccepted
	}
	*p.to = text
	return nil
}
func (p prefix) accepts() string {
	return "at most 50 of a-z 0-9 _ -, beginning with a letter or a digit, such as team1-"
}
func (p prefix) kind() string   { return "prefix" }
func (p prefix) String() string { return *p.to }

// path is a file or a folder; it need not exist yet.
type path struct {
	to       *string
	absolute bool // made so, from the current folder
}

// set accepts any text that can be a path, and makes it absolute if p.absolute. The path need not exist.
func (p path) set(text string) error {
	if text == "" || strings.ContainsRune(text, 0) {
		return errNotAccepted
	}
	if p.absolute {
		abs, err := filepath.Abs(text)
		if err != nil {
			return err
		}
		text = abs
	}
	*p.to = text
	return nil
}
func (p path) accepts() string { return "a path" }
func (p path) kind() string    { return "path" }
func (p path) String() string  { return *p.to }

// level is a level of the log.
type level struct{ to *slog.Level }

var levels = []string{"debug", "info", "warn", "error"}

// set reads the name of a log level, in lower case; another is errNotAccepted.
func (l level) set(text string) error {
	for _, ok := range levels {
		if text == ok {
			return l.to.UnmarshalText([]byte(text))
		}
	}
	return errNotAccepted
}
func (l level) accepts() string { return wording.Or(levels...) }
func (l level) kind() string    { return "name" }
func (l level) String() string  { return strings.ToLower(l.to.String()) }

// patterns is a list of patterns of path.Match.
type patterns struct{ to *[]string }

// set reads patterns (path.Match), separated by commas, at least one. None begins with -, because
// git would take it for an option. errNotAccepted: a pattern is malformed or empty.
func (p patterns) set(text string) error {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if _, err := pathpkg.Match(item, ""); err != nil || item == "" || strings.HasPrefix(item, "-") {
			return errNotAccepted
		}
		list = append(list, item)
	}
	*p.to = list
	return nil
}
func (p patterns) accepts() string { return "a list of names and patterns, such as main,release-*" }
func (p patterns) kind() string    { return "list" }
func (p patterns) String() string  { return strings.Join(*p.to, ",") }
