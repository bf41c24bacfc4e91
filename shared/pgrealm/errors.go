package pgrealm

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"leasehold/shared/fault"
)

// Codes of PostgreSQL's errors (SQLSTATE) that callers look for.
const (
	ReadOnly = "25006"
	DiskFull = "53100"
)

// meaning is what a code of PostgreSQL tells: the kind of the error, and what a person reads before the database's text.
type meaning struct {
	kind error
	text string
}

// meanings has codes, and classes of codes: their first two characters.
var meanings = map[string]meaning{
	"22021":  {fault.ErrInvalid, "a text is not UTF-8"},
	"22P05":  {fault.ErrInvalid, "a text has a character that the database cannot keep"},
	"25P03":  {fault.ErrUnavailable, "a transaction was idle for too long"},
	ReadOnly: {fault.ErrUnavailable, "the database is read-only"},
	"28000":  {fault.ErrUnauthenticated, "the database refuses the role, or how it connects: if it requires TLS, set sslmode=require in the URL"},
	"28P01":  {fault.ErrUnauthenticated, "the database refuses the role or its password"},
	"3D000":  {fault.ErrInvalid, "the database does not exist: make it with createdb"},
	"40001":  {fault.ErrUnavailable, "another transaction was faster"},
	"40P01":  {fault.ErrUnavailable, "transactions waited for each other"},
	"42501":  {fault.ErrPermission, "the database role lacks a right: grant it CREATE on the database, or make it the owner of the schema"},
	"42P01":  {fault.ErrCorrupt, "a table is missing: restore the schema from a backup"},
	DiskFull: {fault.ErrOverloaded, "the disk of the database is full"},
	"53300":  {fault.ErrUnavailable, "the database has no connection left: raise max_connections, or the limit of the role or the database"},
	"55P03":  {fault.ErrUnavailable, "another transaction holds the lock"},
	"57014":  {fault.ErrUnavailable, "the database canceled a statement"},
	"XX001":  {fault.ErrCorrupt, "the database is damaged"},
	"XX002":  {fault.ErrCorrupt, "the database is damaged"},

	"08": {fault.ErrUnavailable, "the connection to the database failed"},
	"53": {fault.ErrUnavailable, "the database lacks resources"},
	"57": {fault.ErrUnavailable, "the database stops or starts, or an operator ended the connection"},
	"58": {fault.ErrUnavailable, "the database has an error of its system"},
}

// Code returns the SQLSTATE of an error; "" for an error of another source.
func Code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// ChangedNothing reports whether err shows that a statement which is a transaction of its own changed nothing: the
// server rolled it back and the connection goes on. Any other error leaves that open.
func ChangedNothing(err error) bool {
	const unknownOutcome = "40003"
	e := (*pgconn.PgError)(nil)
	return errors.As(err, &e) && e.SeverityUnlocalized == "ERROR" && e.Code != unknownOutcome &&
		!strings.HasPrefix(e.Code, "08") && !strings.HasPrefix(e.Code, "57P")
}

// Classify adds the kind of package fault to an error of the database: by its code, or fault.ErrUnavailable for one of
// connecting without an answer. Any other error, one that has a kind already, and nil stay as they are.
func Classify(err error) error {
	if err == nil || hasKind(err) {
		return err
	}
	code := Code(err)
	m, known := meanings[code]
	if !known && len(code) == 5 {
		m, known = meanings[code[:2]]
	}
	if failed := (*pgconn.ConnectError)(nil); errors.As(err, &failed) {
		err = &connectError{text: strings.Join(attempts(failed), "; "), err: err}
		if code == "" {
			m, known = unanswered(failed), true
		}
	}
	if !known {
		return err
	}
	return fmt.Errorf("%s: %w: %w", m.text, m.kind, err)
}

// Unavailable is Classify for an error of a call to the database. An error that the server did not send, and one with which
// the server ended the connection, is fault.ErrUnavailable, because it may pass.
func Unavailable(err error) error {
	classified := Classify(err)
	if classified == nil || hasKind(classified) || ChangedNothing(err) {
		return classified
	}
	return fmt.Errorf("the database does not answer: %w: %w", fault.ErrUnavailable, classified)
}

// hasKind reports whether an error has a kind already.
func hasKind(err error) bool {
	return slices.ContainsFunc([]error{fault.ErrCorrupt, fault.ErrInvalid, fault.ErrClosed, fault.ErrUnavailable, fault.ErrOverloaded, fault.ErrConflict,
		fault.ErrPermission, fault.ErrUnauthenticated}, func(kind error) bool { return errors.Is(err, kind) })
}

// connectError is an error of connecting, with a text in one line and without the parameters.
type connectError struct {
	text string
	err  error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.err }

// tried returns the errors of the attempts to connect.
func tried(failed *pgconn.ConnectError) []error {
	if joined, ok := failed.Unwrap().(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{failed.Unwrap()}
}

// unanswered returns what an error of connecting tells if no server has answered. If no attempt agreed on TLS, a retry
// changes nothing.
func unanswered(failed *pgconn.ConnectError) (m meaning) {
	for _, err := range tried(failed) {
		switch {
		case errors.As(err, new(*tls.CertificateVerificationError)):
			m = meaning{fault.ErrUnauthenticated, "the certificate of the database is of none of the CAs of sslrootcert in the URL, or for another host"}
		case strings.HasSuffix(err.Error(), "server refused TLS connection"):
			m = meaning{fault.ErrInvalid, "the database has no TLS: switch that on there, or change sslmode in the URL"}
		default:
			return meaning{fault.ErrUnavailable, "the database cannot be reached"}
		}
	}
	return m
}

// attempts returns why each attempt to connect failed. pgx tries an address with TLS and without it if the URL leaves
// that open. If a server has answered, only its answers count, because the others tell nothing about the cause.
func attempts(failed *pgconn.ConnectError) (reasons []string) {
	all := tried(failed)
	if answered := slices.DeleteFunc(slices.Clone(all), func(err error) bool { return Code(err) == "" }); len(answered) > 0 {
		all = answered
	}
	for _, err := range all {
		if text := err.Error(); !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	return reasons
}
