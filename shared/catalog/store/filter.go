package store

import (
	"math"

	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqldb"
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
// arguments. A limit below 0 is none. The filter stays as it is, so that it can also count.
func (f *filter) part(query, order string, p catalog.Part) (string, []any) {
	limit := int64(p.Limit)
	if limit < 0 {
		limit = math.MaxInt64
	}
	return query + f.sql + order + " LIMIT ? OFFSET ?", append(f.args[:len(f.args):len(f.args)], limit, p.Offset)
}

func (f *filter) count(c *sqldb.Conn, from string) (n int, err error) {
	_, err = c.One("SELECT count(*)"+from+f.sql, f.args, func(row sqldb.Row) error { return row.Scan(&n) })
	return n, err
}
