// Package fault holds the kinds of error that cross a boundary, and the one
// table that maps each to its wire code, HTTP status and exit code.
//
// A kind is a sentinel: errors wrap it with the operation and the value
// (fmt.Errorf("lease.Extend %s: %w", id, fault.ErrStaleToken)) and are matched
// with errors.Is, on either side of a connection. An error of no kind is an
// internal one.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of error.
var (
	ErrInvalid         = errors.New("invalid")
	ErrContradiction   = fmt.Errorf("contradiction: %w", ErrInvalid) // an invalid value whose parts are valid by themselves
	ErrNotFound        = errors.New("not found")
	ErrConflict        = errors.New("conflict")
	ErrKeyReused       = errors.New("idempotency key reused") // for another request
	ErrStaleToken      = errors.New("stale token")
	ErrClosed          = errors.New("closed")
	ErrTooLarge        = errors.New("too large")
	ErrUnauthenticated = errors.New("unauthenticated")
	ErrForbidden       = errors.New("forbidden") // for every caller: a retry does not help
	ErrOverloaded      = errors.New("overloaded")
	ErrUnavailable     = errors.New("unavailable") // the outcome is unknown: repeat with the same operation id
	ErrCorrupt         = errors.New("corrupt")
	ErrUsage           = errors.New("usage")
	ErrFolder          = errors.New("the folder cannot be made or opened")
	ErrPermission      = errors.New("permission denied by the system")
)

// Row is how one kind is shown at each boundary.
type Row struct {
	Kind       error
	Code       string // on the wire
	HTTPStatus int
	ExitCode   int
}

// Table has one row for each kind; the last row is for errors of no kind. An error may
// be of several kinds, and the first row counts: so a contradiction comes before invalid, and
// the kinds for a folder come before closed and unavailable, because these follow from a folder
// that cannot be opened.
var Table = []Row{
	{ErrContradiction, "contradiction", 409, 1},
	{ErrInvalid, "invalid", 400, 1},
	{ErrUsage, "usage", 400, 2},
	{ErrNotFound, "not_found", 404, 1},
	{ErrConflict, "conflict", 409, 1},
	{ErrKeyReused, "key_reused", 409, 1},
	{ErrStaleToken, "stale_token", 409, 1},
	{ErrPermission, "permission", 500, 77},
	{ErrFolder, "folder", 500, 73},
	{ErrClosed, "closed", 404, 1},
	{ErrTooLarge, "too_large", 413, 1},
	{ErrUnauthenticated, "unauthenticated", 401, 77},
	{ErrForbidden, "forbidden", 403, 77},
	{ErrOverloaded, "overloaded", 507, 1},
	{ErrUnavailable, "unavailable", 503, 69},
	{ErrCorrupt, "corrupt", 500, 65},
	{nil, "internal", 500, 1},
}

// Of returns the row of err's kind: the first row in the table that err is. An error of no known
// kind, and nil, has the last row, which is "internal".
func Of(err error) Row {
	for _, r := range Table {
		if r.Kind != nil && errors.Is(err, r.Kind) {
			return r
		}
	}
	return Table[len(Table)-1]
}

// FromCode returns the kind of a wire code, for errors.Is; nil for "internal" and for codes that
// this version does not know.
func FromCode(code string) error {
	for _, r := range Table {
		if r.Code == code {
			return r.Kind
		}
	}
	return nil
}

// Reason returns an error's text without its kind at the end, for a message that says already what kind it is.
func Reason(err error) string {
	s := err.Error()
	for _, row := range Table {
		if row.Kind != nil && errors.Is(err, row.Kind) {
			s = strings.TrimSuffix(s, ": "+row.Kind.Error())
		}
	}
	return s
}
