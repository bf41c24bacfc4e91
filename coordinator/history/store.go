// Package history keeps how many tasks were created, done, failed and died, and how many waited, of all actions and of
// each, and how many tuples each space had: by minute for a day, and by ten minutes for two weeks.
//
// A Store has the tables, in the coordinator's database. Run adds to them once a minute.
package history

import (
	"context"
	"embed"
	"maps"
	"slices"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/process/wording"
)

// Bounds of the history. It has at most (Minutes+TenMinutes)*(MaxActions+MaxSpaces+3) rows, which is 355,968. They take
// up to 20 MB with names of 20 bytes, and 110 MB if all have maxName.
const (
	Minutes    = 24 * 60           // intervals of a minute
	TenMinutes = 14 * 24 * 6       // intervals of ten minutes
	MaxActions = actions.MaxLabels // of an interval; the counts of others are those of Other
	Other      = actions.Other     // name of the sum of the other actions
	maxName    = 250               // bytes of the name of an action or a space; one that is longer, or has NUL, counts to Other
	Minute     = time.Minute       // the shorter step
	TenMinute  = 10 * time.Minute  // the longer step
)

// intervals are how many intervals of each step are kept.
var intervals = []struct {
	step   time.Duration
	number int64
}{{Minute, Minutes}, {TenMinute, TenMinutes}}

//go:embed migrations/*.sql migrations/postgres/*.sql
var migrations embed.FS

// Schema is the store's part of a database file.
func Schema() sqldb.Schema { return sqldb.Schema{Name: "history", Migrations: migrations} }

// Counts are the events of tasks in an interval, and the tasks that waited for a worker at its end.
type Counts struct {
	Created, Done, Failed, Dead int64 // Failed is of attempts
	Waiting                     int64
}

func (c Counts) plus(o Counts) Counts {
	return Counts{c.Created + o.Created, c.Done + o.Done, c.Failed + o.Failed, c.Dead + o.Dead, c.Waiting + o.Waiting}
}

// Point has the counts of the interval that begins at At.
type Point struct {
	At time.Time
	Counts
}

// Store is the history in a database file. It may be used concurrently.
type Store struct{ file sqldb.Database }

// New returns the history in a file with Schema. The caller closes the file.
func New(file sqldb.Database) *Store { return &Store{file} }

// A Sample is what happened lately: the counts of actions, and the tuples that spaces have.
type Sample struct {
	Actions map[string]Counts
	Spaces  map[string]Tuples
}

// Add adds the counts of actions to the intervals that contain at. Their Waiting and the tuples of spaces replace those
// of the intervals. Beyond the bounds, intervals that begin after now go first, because only a wrong clock made them, and
// then the oldest. A crash of the machine may undo it.
func (s *Store) Add(ctx context.Context, at, now time.Time, sample Sample) error {
	return s.file.Note(ctx, "write the history", func(c *sqldb.Conn) error {
		for _, i := range intervals {
			if err := addTo(c, i.step, at, sample.Actions); err != nil {
				return err
			}
			if err := setSpaces(c, i.step, at, sample.Spaces); err != nil {
				return err
			}
			if err := trim(c, i.step, i.number, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// addTo adds counts to the interval of a step that contains at.
func addTo(c *sqldb.Conn, step time.Duration, at time.Time, counts map[string]Counts) error {
	seconds, begin := int64(step/time.Second), at.Truncate(step).Unix()
	var sum Counts
	for _, n := range counts {
		sum = sum.plus(n)
	}
	if err := c.Exec(`INSERT INTO task_interval (step, at, created, done, failed, dead, waiting) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (step, at) DO UPDATE SET created = task_interval.created + excluded.created, done = task_interval.done + excluded.done,
			failed = task_interval.failed + excluded.failed, dead = task_interval.dead + excluded.dead, waiting = excluded.waiting`,
		seconds, begin, sum.Created, sum.Done, sum.Failed, sum.Dead, sum.Waiting); err != nil {
		return err
	}
	if err := c.Exec("UPDATE task_interval_action SET waiting = 0 WHERE step = ? AND at = ?", seconds, begin); err != nil {
		return err
	}
	known := map[string]bool{}
	if err := c.All("SELECT action FROM task_interval_action WHERE step = ? AND at = ?", []any{seconds, begin}, func(row sqldb.Row) error {
		var action string
		err := row.Scan(&action)
		known[action] = true
		return err
	}); err != nil {
		return err
	}
	for action, n := range bounded(known, counts) {
		if err := c.Exec(`INSERT INTO task_interval_action (step, at, action, created, done, failed, dead, waiting) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (step, at, action) DO UPDATE SET created = task_interval_action.created + excluded.created,
				done = task_interval_action.done + excluded.done, failed = task_interval_action.failed + excluded.failed,
				dead = task_interval_action.dead + excluded.dead, waiting = excluded.waiting`,
			seconds, begin, action, n.Created, n.Done, n.Failed, n.Dead, n.Waiting); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether the tables can have a name.
func fits(name string) bool { return len(name) <= maxName && wording.IsStorable(name) }

// bounded returns counts by action without those that are all 0. Those for which an interval with the known actions has
// no place are in Other. It changes known.
func bounded(known map[string]bool, counts map[string]Counts) map[string]Counts {
	delete(known, Other) // it is one more
	all := map[string]Counts{}
	for _, action := range slices.Sorted(maps.Keys(counts)) {
		n := counts[action]
		if n == (Counts{}) {
			continue
		}
		if action != Other && !known[action] {
			if len(known) >= MaxActions || !fits(action) {
				action = Other
			} else {
				known[action] = true
			}
		}
		all[action] = all[action].plus(n)
	}
	return all
}

// trim removes the intervals of a step beyond a number.
func trim(c *sqldb.Conn, step time.Duration, number int64, now time.Time) error {
	seconds := int64(step / time.Second)
	var kept int64
	_, err := c.One("SELECT count(*) FROM task_interval WHERE step = ?", []any{seconds}, sqldb.Into(&kept))
	if err != nil || kept <= number {
		return err
	}
	return c.Exec(`DELETE FROM task_interval WHERE step = ?1 AND at IN (SELECT at FROM task_interval WHERE step = ?1
		ORDER BY at > ?2 DESC, at LIMIT ?3)`, seconds, now.Unix(), kept-number)
}

// Query selects points.
type Query struct {
	Action   string        // of Read; empty: the sum of all
	Space    string        // of ReadSpaces; empty: every space
	Step     time.Duration // Minute or TenMinute
	From, To time.Time     // intervals that begin at From or later, and before To
}

// Read returns the points of a query, the oldest first. Intervals in which the coordinator did not run have none.
func (s *Store) Read(ctx context.Context, q Query) (points []Point, err error) {
	text := "SELECT at, created, done, failed, dead, waiting FROM task_interval WHERE step = ? AND at >= ? AND at < ? ORDER BY at"
	args := []any{int64(q.Step / time.Second), q.From.Unix(), q.To.Unix()}
	if q.Action != "" {
		text = `SELECT i.at, coalesce(a.created, 0), coalesce(a.done, 0), coalesce(a.failed, 0), coalesce(a.dead, 0), coalesce(a.waiting, 0)
			FROM task_interval i LEFT JOIN task_interval_action a ON a.step = i.step AND a.at = i.at AND a.action = ?4
			WHERE i.step = ?1 AND i.at >= ?2 AND i.at < ?3 ORDER BY i.at`
		args = append(args, q.Action)
	}
	err = s.file.Read(ctx, "read the history", func(c *sqldb.Conn) error {
		return c.All(text, args, func(row sqldb.Row) error {
			var p Point
			var at int64
			err := row.Scan(&at, &p.Created, &p.Done, &p.Failed, &p.Dead, &p.Waiting)
			p.At = time.Unix(at, 0).UTC()
			points = append(points, p)
			return err
		})
	})
	return points, err
}

// ReadActions returns the points of all actions that had a count between two times, by action, the oldest first. An
// interval without one has no point; see Read for which intervals there are.
func (s *Store) ReadActions(ctx context.Context, q Query) (map[string][]Point, error) {
	points := map[string][]Point{}
	err := s.file.Read(ctx, "read the history of actions", func(c *sqldb.Conn) error {
		return c.All("SELECT action, at, created, done, failed, dead, waiting FROM task_interval_action WHERE step = ? AND at >= ? AND at < ? ORDER BY at",
			[]any{int64(q.Step / time.Second), q.From.Unix(), q.To.Unix()}, func(row sqldb.Row) error {
				var name string
				var at int64
				var p Point
				err := row.Scan(&name, &at, &p.Created, &p.Done, &p.Failed, &p.Dead, &p.Waiting)
				p.At = time.Unix(at, 0).UTC()
				points[name] = append(points[name], p)
				return err
			})
	})
	return points, err
}
