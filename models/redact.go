package models

import (
	"net/url"
	"regexp"
	"strings"
)

// Redacted replaces the user and the password of a URL, and other secrets.
const Redacted = "xxxxx"

// userInfo is the part of a URL between its scheme and the last @ before its path. Quotes and
// backslashes end it, because a URL may be in JSON or in a quoted string.
var userInfo = regexp.MustCompile("://[^\\s/?#\"'`<>\\\\]*@")

// tokenSecret and lineSecret are a token, and the secret of a join line, which may have been cut.
var (
	tokenSecret = regexp.MustCompile(`\blht-[a-z2-7]{8,}`)
	lineSecret  = regexp.MustCompile(`\b(lh[12]-[a-z]+-[a-z2-7]{8}-[a-z2-7]{32}-(?:[a-z2-7]{32}-[0-9]+-)?)[a-z2-7]+`)
)

// Redact replaces the users and passwords of all URLs in a text, because they may be secrets of an origin, such as
// https://bob:password@example.org/feed.xml. Every text to be printed, logged or stored beside the origin itself goes
// through it.
func Redact(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return text
	}
	return userInfo.ReplaceAllLiteralString(text, "://"+Redacted+"@")
}

// WithoutUserOf returns uri without its user and password if they are those of an origin's URL and both are of one host;
// else it returns uri. So only the origin keeps them.
func WithoutUserOf(origin, uri string) string {
	from, err := url.Parse(origin)
	if err != nil || from.User == nil {
		return uri
	}
	to, err := url.Parse(uri)
	if err != nil || to.User == nil || to.User.String() != from.User.String() || !strings.EqualFold(to.Host, from.Host) {
		return uri
	}
	to.User = nil
	return to.String()
}

// RedactSecrets is Redact for errors and the audit. It also replaces tokens and the secrets of join lines, which people
// put where an id is expected.
func RedactSecrets(text string) string {
	text = tokenSecret.ReplaceAllLiteralString(Redact(text), "lht-"+Redacted)
	return lineSecret.ReplaceAllString(text, "${1}"+Redacted)
}

// WithUserOf returns uri with the user and password of an origin's URL if uri has none and
// both are of the same scheme and host; else it returns uri. So the parts of a feed that
// needs a password are fetched with it, and no other server gets it.
func WithUserOf(origin, uri string) string {
	from, err := url.Parse(origin)
	if err != nil || from.User == nil {
		return uri
	}
	to, err := url.Parse(uri)
	if err != nil || to.User != nil || to.Scheme != from.Scheme || !strings.EqualFold(to.Host, from.Host) {
		return uri
	}
	to.User = from.User
	return to.String()
}
