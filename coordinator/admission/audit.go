package admission

import (
	"context"
	"strings"
	"time"

	"leasehold/shared/access"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/process/wording"
)

// Bounds of the audit.
const (
	maxRecords = 100_000 // of each table
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
	Routine  bool            // it counts towards a bound of its own; Audit does not tell it
}

// table is the table of a record. Routine has its own, so that a busy program does not push changes by people out.
func (r Record) table() string {
	if r.Routine {
		return "routine"
	}
	return "audit"
}

// Note adds records, and drops those beyond the bounds.
func (s *Store) Note(ctx context.Context, records ...Record) error {
	return s.file.Write(ctx, "write the audit", func(c *sqldb.Conn) error {
		latest := map[string]int64{}
		for _, r := range records {
			id, err := c.Insert("INSERT INTO "+r.table()+" (at, identity, name, roles, address, action, object, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
				r.At.UnixMilli(), cut(r.Identity.ID), cut(r.Identity.Name), r.Identity.Roles.String(), cut(r.Address), cut(r.Action), cut(r.Object), cut(r.Outcome))
			if err != nil {
				return err
			}
			latest[r.table()] = id
		}
		for table, id := range latest {
			if err := c.Exec("DELETE FROM "+table+" WHERE id <= ? OR at < ?", id-maxRecords, s.now().Add(-maxAge).UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
}

func cut(text string) string {
	return wording.Storable(strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
}

// latestOf selects the latest records of a table since ?1, at most ?2. Those of one millisecond are in the order of their
// ids, first those of the table audit.
func latestOf(table string) string {
	return "SELECT * FROM (SELECT at, '" + table + "' AS kind, id, identity, name, roles, address, action, object, outcome FROM " + table +
		" WHERE at >= ?1 ORDER BY id DESC LIMIT ?2) AS " + table + "_latest"
}

// Audit returns the latest records since a time, at most so many, the oldest first.
func (s *Store) Audit(ctx context.Context, since time.Time, most int) (records []Record, err error) {
	both := latestOf("audit") + " UNION ALL " + latestOf("routine")
	latest := "SELECT * FROM (" + both + ") AS both_tables ORDER BY at DESC, kind DESC, id DESC LIMIT ?2"
	err = s.file.Read(ctx, "read the audit", func(c *sqldb.Conn) error {
		return c.All("SELECT at, identity, name, roles, address, action, object, outcome FROM ("+latest+") AS latest ORDER BY at, kind, id", []any{since.UnixMilli(), most}, func(row sqldb.Row) error {
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
