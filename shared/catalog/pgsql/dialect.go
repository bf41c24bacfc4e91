package pgsql

import (
	"database/sql/driver"
	"strconv"
	"strings"

	"leasehold/shared/catalog/sqldb"
)

var dialect = sqldb.Dialect{Rewrite: numbered, Values: values}

// numbered returns a statement with $1, $2 and so on in place of its parameters, which are ? or ?1, ?2 and so on. As
// in SQLite, ? has the number after the highest one so far. Texts and names in quotes stay.
func numbered(query string) string {
	var b strings.Builder
	highest := 0
	for i := 0; i < len(query); {
		switch c := query[i]; c {
		case '\'', '"':
			end := i + 1
			for end < len(query) && query[end] != c {
				end++
			}
			end = min(end+1, len(query)) // a doubled quote begins another text, which is right too
			b.WriteString(query[i:end])
			i = end
		case '?':
			end := i + 1
			for end < len(query) && query[end] >= '0' && query[end] <= '9' {
				end++
			}
			n, err := strconv.Atoi(query[i+1 : end])
			if err != nil {
				n = highest + 1
			}
			highest = max(highest, n)
			b.WriteString("$" + strconv.Itoa(n))
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// values returns parameters of the types that database/sql converts to, with truth values as integers.
func values(args []any) ([]any, error) {
	converted := make([]any, len(args))
	for i, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, err
		}
		if truth, ok := v.(bool); ok {
			v = int64(0)
			if truth {
				v = int64(1)
			}
		}
		converted[i] = v
	}
	return converted, nil
}
