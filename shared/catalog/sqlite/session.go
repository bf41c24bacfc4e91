package sqlite

import (
	"time"

	"leasehold/shared/sqlfile"
)

// session is the file in the hands of one caller, within Store.use.
type session struct{ *sqlfile.File }

type scanner = sqlfile.Row

// stamp and moment convert between a time and its column.
func stamp(t time.Time) int64   { return t.UnixMicro() }
func moment(us int64) time.Time { return time.UnixMicro(us).UTC() }
