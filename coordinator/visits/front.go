package visits

import (
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// Invariant: of the origins of one host in one queue, exactly the first is in front. All
// others wait behind it, where no pick reads them; so a busy host costs a pick at most
// one row for each queue, however many of its origins wait.

// queued reports whether an origin waits behind others of its host.
func (r row) queued() bool { return r.host != "" && r.place.Pool <= poolUrgent }

// moveFront keeps the invariant (the first origin of a host in a queue is in front, and no other) when one moves
// from where it was to where it is, and reports whether it is in front itself. The caller writes its row
// afterwards; so the file still has was. A row with key 0 is new. In this order: if the origin leaves the front
// of its queue, the next one of its host takes the front; if it joins a queue, either it or the first other one
// is in front.
func (s *Store) moveFront(was, is row) (front bool, err error) {
	if was.Key != 0 && was.place == is.place && was.host == is.host {
		return was.front, nil
	}
	stays := was.place.Queue() == is.place.Queue() && was.host == is.host
	if was.Key != 0 && was.front && was.queued() && (!is.queued() || !stays) {
		if err := s.showFirst(was); err != nil {
			return false, err
		}
	}
	if !is.queued() {
		return true, nil
	}
	first, ok, err := s.firstOther(is)
	if err != nil || !ok {
		return true, err
	}
	// With the same ref the lower key is first; a new row gets a higher key than all others.
	front = is.place.Ref < first.Place.Ref || is.place.Ref == first.Place.Ref && is.Key != 0 && is.Key < first.Key
	if front || was.Key != 0 && was.front && was.queued() && stays {
		err = s.setFront(first.Key, !front)
	}
	return front, err
}

// showFirst puts the first of the others of its host in front when an origin leaves its queue; if there are none
// it does nothing.
func (s *Store) showFirst(leaving row) error {
	next, ok, err := s.firstOther(leaving)
	if err != nil || !ok {
		return err
	}
	return s.setFront(next.Key, true)
}

func (s *Store) setFront(key int64, front bool) error {
	if r, ok := s.cache.claims[key]; ok {
		r.front = front
		s.update().claims[key] = r
	}
	return s.db.Exec("UPDATE schedule SET front = ?2 WHERE key = ?1 AND front <> ?2", key, front)
}

// firstOther returns the first of the origins that wait with r in its queue and at its host, without r itself,
// and reports whether there is one. Only its key and its ref are set. Without a host nothing shares a front, so
// there is none.
func (s *Store) firstOther(r row) (first policy.Candidate, ok bool, err error) {
	err = s.db.All(`SELECT key, ref FROM schedule WHERE host = ? AND host <> '' AND pool = ? AND pool <= 200 AND queue = ? AND class = ?
		AND key <> ? ORDER BY ref, key LIMIT 1`, []any{r.host, r.place.Pool, r.place.Lister, r.place.Class, r.Key}, func(from sqldb.Row) error {
		ok = true
		return from.Scan(&first.Key, &first.Place.Ref)
	})
	return first, ok, err
}

// following returns the next origin of c's host behind c in its queue, and reports whether there is one; without
// a host, and in the pools above 200, there is none, because all origins are in front there.
func (s *Store) following(c policy.Candidate) (next policy.Candidate, ok bool, err error) {
	next = c
	err = s.db.All(`SELECT key, ref FROM schedule WHERE host = ? AND host <> '' AND pool = ? AND pool <= 200 AND queue = ? AND class = ?
		AND (ref, key) > (?, ?) ORDER BY ref, key LIMIT 1`,
		[]any{c.Host, c.Place.Pool, c.Place.Lister, c.Place.Class, c.Place.Ref, c.Key}, func(from sqldb.Row) error {
			ok = true
			return from.Scan(&next.Key, &next.Place.Ref)
		})
	return next, ok, err
}
