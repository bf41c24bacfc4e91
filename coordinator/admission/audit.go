package admission

import (
	"context"
	"strings"
	"time"

	"leasehold/shared/access"
	"leasehold/shared/catalog/sqlfile"
)

// Bounds of the audit.
const (
	maxRecords = 100_000
	maxAge     = 365 * 24 * time.Hour
	maxText    = 500 // bytes of a field
)

// Record is one change that a person or a program made, or tried to make.
type Record struct {
	At       time.Time
	Identity access.Identity // without its spaces
	Address  string          // IP address
	Action   string          // such as an operation of the API
	Object   string          // such as the path of the request; never a body
	Outcome  string          // "done", or why not
}

// Note adds records, and drops those beyond the bounds.
func (s *Store) Note(ctx context.Context, records ...Record) error {
	return s.file.Write(ctx, "write the audit", func(c *sqlfile.Conn) error {
		var latest int64
		for _, r := range records {
			id, err := c.Insert("INSERT INTO audit (at, identity, name, roles, address, action, object, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				r.At.UnixMilli(), r.Identity.ID, r.Identity.Name, r.Identity.Roles.String(), r.Address, cut(r.Action), cut(r.Object), cut(r.Outcome))
			if err != nil {
				return err
			}
			latest = id
		}
		return c.Exec("DELETE FROM audit WHERE id <= ? OR at < ?", latest-maxRecords, s.now().Add(-maxAge).UnixMilli())
	})
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxText)], "") }

// Audit returns the latest records since a time, at most so many, the oldest first.
func (s *Store) Audit(ctx context.Context, since time.Time, most int) (records []Record, err error) {
	const latest = "SELECT id, at, identity, name, roles, address, action, object, outcome FROM audit WHERE at >= ? ORDER BY id DESC LIMIT ?"
	err = s.file.Read(ctx, "read the audit", func(c *sqlfile.Conn) error {
		return c.All("SELECT at, identity, name, roles, address, action, object, outcome FROM ("+latest+") ORDER BY id", []any{since.UnixMilli(), most}, func(row sqlfile.Row) error {
			var r Record
			var at int64
			var roles string
			if err := row.Scan(&at, &r.Identity.ID, &r.Identity.Name, &roles, &r.Address, &r.Action, &r.Object, &r.Outcome); err != nil {
				return err
			}
			r.At = time.UnixMilli(at).UTC()
			r.Identity.Roles, _ = access.ParseRoles(roles) // none of a role that is gone
			records = append(records, r)
			return nil
		})
	})
	return records, err
}
