package visits

import (
	"cmp"
	"fmt"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// A row is an origin as the store has it.
type row struct {
	policy.State
	id, uri        string
	host           string // policy.HostGroups.Of hostName
	answered       string // the host at which its last visit ended, if that is not the host of uri
	kind           models.OriginKind
	priority       int64
	etag, modified string
	lost           int    // visits in a row
	urgent         int64  // when a visit was asked for, 0: it was not
	visit          string // under way
	place          policy.Place
	front          bool           // a pick may read it; see front.go
	hours          models.Hours   // in which it may be visited
	skip           models.Skipped // when its feed asks not to be read
	forced         bool           // the visit that was asked for does not wait for its hours
	claimed        bool           // its claim is not in its row yet, so that place is where it was picked; see claims.go
}

func (r row) origin() models.Origin { return models.Origin{ID: r.id, Kind: r.kind, URI: r.uri} }

// stored are the columns of a row that save writes; the database gives the key.
const stored = `id, kind, uri, priority, host, lister, first_seen, last_seen, created, last_update, last_scheduled,
	last_visit, last_success, last_status, digest, etag, modified, target, idx, failures, disabled, not_before, changes,
	days, lost, urgent, visit, pool, queue, class, ref, front, dates, recent, fork, every, told, fresh_until, activity, refusals, told_at, told_false, answered,
	hours, skip, forced, closes, items, overflows, missed, last_read`

// hostName returns the host whose limits the visits of an origin count for: the one that answers, because a redirect
// may lead the origins of many hosts to one.
func (r row) hostName() string { return cmp.Or(r.answered, hostOf(r.uri)) }

// selectRows reads what scanRow scans.
const selectRows = "SELECT key, " + stored + ", coalesce(claimed, ''), coalesce(claimed_at, 0) FROM schedule LEFT JOIN claim USING (key)"

// scanRow reads one row of selectRows. If the table claim has a claim of the origin, the row is as after that
// claim, although its columns in schedule are those from before it.
func scanRow(from sqldb.Row) (row, error) {
	var r row
	var recent []byte
	var claimed string
	var claimedAt int64
	err := from.Scan(&r.Key, &r.id, &r.kind, &r.uri, &r.priority, &r.host, &r.Lister, &r.FirstSeen, &r.LastSeen,
		orNever{&r.Created}, orNever{&r.LastUpdate}, orNever{&r.LastScheduled}, orNever{&r.LastVisit}, orNever{&r.LastSuccess},
		&r.LastStatus, &r.LastDigest, &r.etag, &r.modified, orNever{&r.Target}, &r.Index,
		&r.Failures, &r.Disabled, orNever{&r.NotBefore}, &r.Changes, &r.Days, &r.lost, &r.urgent, &r.visit,
		&r.place.Pool, &r.place.Lister, &r.place.Class, &r.place.Ref, &r.front, &r.Dates, &recent,
		&r.Fork, &r.Every, &r.Told, orNever{&r.FreshUntil}, &r.Activity, &r.Refusals, orNever{&r.ToldAt}, &r.ToldFalse, &r.answered,
		&r.hours, &r.skip, &r.forced, orNever{new(int64)},
		&r.Window, &r.Overflows, &r.Missed, orNever{&r.LastRead}, &claimed, &claimedAt)
	r.Recent, r.Type = policy.RecentOf(recent), string(r.kind)
	if claimed != "" {
		r.claim(claimed, claimedAt)
	}
	return r, err
}

// orNever reads a time; NULL is policy.Never.
type orNever struct{ at *int64 }

// Scan implements sql.Scanner: NULL, for a time that does not exist, becomes policy.Never. A value
// other than NULL or a whole number is an error.
func (t orNever) Scan(from any) error {
	*t.at = policy.Never
	if from == nil {
		return nil
	}
	at, ok := from.(int64)
	if !ok {
		return fmt.Errorf("time %v: want whole seconds", from)
	}
	*t.at = at
	return nil
}

// orNull is the inverse of orNever. A new origin has eight times that are never, and each
// would take eight bytes.
func orNull(at int64) any {
	if at == policy.Never {
		return nil
	}
	return at
}

// rulesOf returns the rules of a kind of origin. A visit of a program is lost after
// programDeadline at the latest, because programs do not report that they died.
func (s *Store) rulesOf(kind models.OriginKind) policy.Rules {
	r := s.policy.Rules(string(kind))
	if kind.IsProgram() {
		r.LostAfter = min(r.LostAfter, programDeadline)
	}
	return r
}

func read(c *sqldb.Conn, id string) (row, error) {
	r, ok, err := findID(c, id)
	if err == nil && !ok {
		err = fmt.Errorf("origin %s: %w", id, fault.ErrNotFound)
	}
	return r, err
}

// findID reads the row of an origin, and reports whether there is one. Only ids reach the database, which may refuse
// other texts.
func findID(c *sqldb.Conn, id string) (r row, ok bool, err error) {
	if !models.ValidID(id) {
		return row{}, false, nil
	}
	return find(c, selectRows+" WHERE id = ?", id)
}

// find reads the row that a query selects, the last one of several, and reports whether there is one.
func find(c *sqldb.Conn, query string, args ...any) (r row, ok bool, err error) {
	err = c.All(query, args, func(from sqldb.Row) (err error) {
		r, err = scanRow(from)
		ok = true
		return err
	})
	return r, ok, err
}

// edit changes the origin with an id, in the transaction under way, and saves it where it waits then.
func (s *Store) edit(id string, now int64, change func(*row)) error {
	was, err := read(s.db, id)
	if err != nil {
		return err
	}
	r := was
	change(&r)
	return s.save(was, r, now)
}

// editKey changes the origin with a key, in the transaction under way. It does nothing if the origin was removed,
// because callers read the keys in an earlier transaction. After an error of change it does not save.
func (s *Store) editKey(key, now int64, change func(*row) error) error {
	was, ok, err := find(s.db, selectRows+" WHERE key = ?", key)
	if err != nil || !ok {
		return err
	}
	r := was
	if err := change(&r); err != nil {
		return err
	}
	return s.save(was, r, now)
}

// save writes an origin, in the transaction under way, at the place where it belongs at a time, and keeps the
// cache like the file. was is the origin as the file has it; a row with key 0 is new and is inserted. Its claim
// moves from the table claim into its row. The order matters: moveFront reads the other origins of the host while
// the file still has was. The URI is written without user and password, which only the catalog's origin has.
// After an error the caller must end the transaction with it, because the cache may have changed already.
func (s *Store) save(was, r row, now int64) (err error) {
	r.place = s.placeOf(r, now)
	if r.front, err = s.moveFront(was, r); err != nil {
		return err
	}
	closes := policy.Never
	if r.place.Pool < poolRest || r.place.Pool == poolProgram { // it may be visited now
		closes = r.closes(now)
	}
	k := s.update()
	r.claimed = false
	if was.claimed {
		if err := s.db.Exec("DELETE FROM claim WHERE key = ?", was.Key); err != nil {
			return err
		}
	}
	if r.Key == 0 {
		r.Key, err = s.db.Insert(`INSERT INTO schedule (`+stored+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING key`,
			r.id, r.kind, models.Redact(r.uri), r.priority, r.host, r.Lister, r.FirstSeen, r.LastSeen, orNull(r.Created), orNull(r.LastUpdate),
			orNull(r.LastScheduled), orNull(r.LastVisit), orNull(r.LastSuccess), r.LastStatus, r.LastDigest, r.etag, r.modified,
			orNull(r.Target), r.Index, r.Failures, r.Disabled, orNull(r.NotBefore),
			r.Changes, r.Days, r.lost, r.urgent, r.visit, r.place.Pool, r.place.Lister, r.place.Class, r.place.Ref, r.front, r.Dates, r.Recent.Bytes(),
			r.Fork, r.Every, r.Told, orNull(r.FreshUntil), r.Activity, r.Refusals, orNull(r.ToldAt), r.ToldFalse, r.answered,
			r.hours, r.skip, r.forced, orNull(closes), r.Window, r.Overflows, r.Missed, orNull(r.LastRead))
		k.add(r, 1)
		return err
	}
	k.move(was, r)
	return s.db.Exec(`UPDATE schedule SET priority = ?, lister = ?, last_seen = ?, created = ?, last_update = ?, last_scheduled = ?, last_visit = ?,
		last_success = ?, last_status = ?, digest = ?, etag = ?, modified = ?, target = ?, idx = ?, failures = ?, disabled = ?,
		not_before = ?, host = ?, changes = ?, days = ?, lost = ?, urgent = ?, visit = ?, pool = ?, queue = ?, class = ?, ref = ?, front = ?, dates = ?, recent = ?,
		fork = ?, every = ?, told = ?, fresh_until = ?, activity = ?, refusals = ?, told_at = ?, told_false = ?, answered = ?,
		hours = ?, skip = ?, forced = ?, closes = ?,
		items = ?, overflows = ?, missed = ?, last_read = ? WHERE key = ?`,
		r.priority, r.Lister, r.LastSeen, orNull(r.Created), orNull(r.LastUpdate), orNull(r.LastScheduled), orNull(r.LastVisit),
		orNull(r.LastSuccess), r.LastStatus, r.LastDigest, r.etag, r.modified, orNull(r.Target), r.Index, r.Failures, r.Disabled,
		orNull(r.NotBefore), r.host, r.Changes, r.Days, r.lost, r.urgent, r.visit,
		r.place.Pool, r.place.Lister, r.place.Class, r.place.Ref, r.front, r.Dates, r.Recent.Bytes(),
		r.Fork, r.Every, r.Told, orNull(r.FreshUntil), r.Activity, r.Refusals, orNull(r.ToldAt), r.ToldFalse, r.answered,
		r.hours, r.skip, r.forced, orNull(closes), r.Window, r.Overflows, r.Missed, orNull(r.LastRead), r.Key)
}
