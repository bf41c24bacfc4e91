package history

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"leasehold/shared/catalog/sqldb"
)

// MaxSpaces is how many spaces of an interval have counts of their own; those of the others are in Other.
const MaxSpaces = 50

// Tuples are how many tuples a space had at the end of an interval.
type Tuples struct{ Visible, Held int64 }

func (t Tuples) plus(o Tuples) Tuples { return Tuples{t.Visible + o.Visible, t.Held + o.Held} }

// SpacePoint has the tuples of a space at the end of the interval that begins at At.
type SpacePoint struct {
	At time.Time
	Tuples
}

// setSpaces replaces the tuples of the interval of a step that contains at.
func setSpaces(c *sqldb.Conn, step time.Duration, at time.Time, spaces map[string]Tuples) error {
	seconds, begin := int64(step/time.Second), at.Truncate(step).Unix()
	before := map[string]bool{}
	if err := c.All("SELECT space FROM space_interval WHERE step = ?1 AND at = (SELECT max(at) FROM space_interval WHERE step = ?1 AND at <= ?2)", []any{seconds, begin}, func(row sqldb.Row) error {
		var space string
		err := row.Scan(&space)
		before[space] = true
		return err
	}); err != nil {
		return err
	}
	if err := c.Exec("DELETE FROM space_interval WHERE step = ? AND at = ?", seconds, begin); err != nil {
		return err
	}
	for space, n := range boundedSpaces(before, spaces) {
		if err := c.Exec("INSERT INTO space_interval (step, at, space, visible, held) VALUES (?, ?, ?, ?, ?)", seconds, begin, space, n.Visible, n.Held); err != nil {
			return err
		}
	}
	return nil
}

// boundedSpaces returns the tuples of spaces that have some: of at most MaxSpaces, and the sum of the others in Other.
// Spaces that had a place before keep it, so that their history has no gaps; then those with the most tuples get one.
func boundedSpaces(before map[string]bool, spaces map[string]Tuples) map[string]Tuples {
	names := slices.SortedFunc(maps.Keys(spaces), func(a, b string) int {
		x, y := spaces[a], spaces[b]
		switch {
		case before[a] && !before[b]:
			return -1
		case before[b] && !before[a]:
			return 1
		}
		return cmp.Or(cmp.Compare(y.Visible+y.Held, x.Visible+x.Held), cmp.Compare(a, b))
	})
	all, places := map[string]Tuples{}, 0
	for _, name := range names {
		n := spaces[name]
		if n == (Tuples{}) {
			continue
		}
		if name != Other {
			if places == MaxSpaces || !fits(name) {
				name = Other
			} else {
				places++
			}
		}
		all[name] = all[name].plus(n)
	}
	return all
}

// ReadSpaces returns the points of all spaces that had tuples between two times, by space, the oldest first; with a name
// only those of that space. An interval in which a space had none, or the coordinator did not run, has no point; see
// Store.Read for which intervals there are.
func (s *Store) ReadSpaces(ctx context.Context, q Query) (map[string][]SpacePoint, error) {
	points := map[string][]SpacePoint{}
	err := s.file.Read(ctx, "read the history of spaces", func(c *sqldb.Conn) error {
		return c.All("SELECT space, at, visible, held FROM space_interval WHERE step = ?1 AND at >= ?2 AND at < ?3 AND (?4 = '' OR space = ?4) ORDER BY at",
			[]any{int64(q.Step / time.Second), q.From.Unix(), q.To.Unix(), q.Space}, func(row sqldb.Row) error {
				var name string
				var at int64
				var p SpacePoint
				err := row.Scan(&name, &at, &p.Visible, &p.Held)
				p.At = time.Unix(at, 0).UTC()
				points[name] = append(points[name], p)
				return err
			})
	})
	return points, err
}
