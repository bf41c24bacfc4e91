package store

import (
	"fmt"
	"net/url"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/fault"
)

// A row is an origin as the store has it.
type row struct {
	visit.State
	id, uri, host  string
	kind           models.OriginKind
	etag, modified string
	lost           int    // visits in a row
	urgent         int64  // when a visit was asked for, 0: it was not
	visit          string // under way
	place          visit.Place
}

func (r row) origin() models.Origin { return models.Origin{ID: r.id, Kind: r.kind, URI: r.uri} }

const columns = `key, id, kind, uri, host, lister, first_seen, last_seen, created, last_update, last_scheduled,
	last_visit, last_success, last_status, digest, etag, modified, target, idx, failures, disabled, not_before, changes,
	days, lost, urgent, visit, pool, queue, class, ref`

func scanRow(from scanner) (row, error) {
	var r row
	err := from.Scan(&r.Key, &r.id, &r.kind, &r.uri, &r.host, &r.Lister, &r.FirstSeen, &r.LastSeen, &r.Created, &r.LastUpdate,
		&r.LastScheduled, &r.LastVisit, &r.LastSuccess, &r.LastStatus, &r.LastDigest, &r.etag, &r.modified, &r.Target, &r.Index,
		&r.Failures, &r.Disabled, &r.NotBefore, &r.Changes, &r.Days, &r.lost, &r.urgent, &r.visit,
		&r.place.Pool, &r.place.Lister, &r.place.Class, &r.place.Ref)
	return r, err
}

// read finds an origin by its id.
func (s *Store) read(id string) (row, error) {
	r, ok, err := s.find("SELECT "+columns+" FROM origin WHERE id = ?", id)
	if err == nil && !ok {
		err = fmt.Errorf("origin %s: %w", id, fault.ErrNotFound)
	}
	return r, err
}

func (s *Store) find(query string, args ...any) (r row, ok bool, err error) {
	err = s.db.All(query, args, func(from scanner) (err error) {
		r, err = scanRow(from)
		ok = true
		return err
	})
	return r, ok, err
}

// write puts an origin where it belongs at a time, and notes what changed.
func (s *Store) write(was, r row, now int64) error {
	r.place = s.placeOf(r, now)
	if r.Key == 0 {
		return s.insert(r)
	}
	s.state.move(was, r)
	return s.db.Exec(`UPDATE origin SET lister = ?, last_seen = ?, created = ?, last_update = ?, last_scheduled = ?, last_visit = ?,
		last_success = ?, last_status = ?, digest = ?, etag = ?, modified = ?, target = ?, idx = ?, failures = ?, disabled = ?,
		not_before = ?, changes = ?, days = ?, lost = ?, urgent = ?, visit = ?, pool = ?, queue = ?, class = ?, ref = ? WHERE key = ?`,
		r.Lister, r.LastSeen, r.Created, r.LastUpdate, r.LastScheduled, r.LastVisit, r.LastSuccess, r.LastStatus, r.LastDigest,
		r.etag, r.modified, r.Target, r.Index, r.Failures, r.Disabled, r.NotBefore, r.Changes, r.Days, r.lost, r.urgent, r.visit,
		r.place.Pool, r.place.Lister, r.place.Class, r.place.Ref, r.Key)
}

func (s *Store) insert(r row) error {
	s.state.appear(r)
	return s.db.Exec(`INSERT INTO origin (`+columns+`) VALUES (NULL, ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		r.id, r.kind, r.uri, r.host, r.Lister, r.FirstSeen, r.LastSeen, r.Created, r.LastUpdate, r.LastScheduled, r.LastVisit,
		r.LastSuccess, r.LastStatus, r.LastDigest, r.etag, r.modified, r.Target, r.Index, r.Failures, r.Disabled, r.NotBefore,
		r.Changes, r.Days, r.lost, r.urgent, r.visit, r.place.Pool, r.place.Lister, r.place.Class, r.place.Ref)
}

// hostOf is the host whose patience a visit of uri costs; a path has none.
func hostOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || u.Scheme == "file" {
		return ""
	}
	return u.Host
}
