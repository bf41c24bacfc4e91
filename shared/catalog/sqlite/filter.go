package sqlite

import (
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqlfile"
)

// filter adds conditions and a part to a query that has a WHERE.
type filter struct {
	sql  string
	args []any
}

// require adds the condition that a column has a value; an empty value adds none.
func (f *filter) require(column, wanted string) {
	if wanted != "" {
		f.sql += " AND " + column + " = ?"
		f.args = append(f.args, wanted)
	}
}

// part returns the query with the conditions, an ORDER BY or GROUP BY, and the limits of p, and its
// arguments. The filter stays as it is, so that it can also count.
func (f *filter) part(query, order string, p catalog.Part) (string, []any) {
	return query + f.sql + order + " LIMIT ? OFFSET ?", append(f.args[:len(f.args):len(f.args)], p.Limit, p.Offset)
}

func (f *filter) count(c *sqlfile.Conn, from string) (n int, err error) {
	_, err = c.One("SELECT count(*)"+from+f.sql, f.args, func(row sqlfile.Row) error { return row.Scan(&n) })
	return n, err
}
