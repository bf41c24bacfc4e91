package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// AddOrigin adds an origin, or changes the priority, the branches, the tags and Listed of one whose id is known, and
// reports whether it is new. Listed can only become false: an origin that an operator has named is trusted. One that
// has moved comes back to the URI that an operator names. The schedule changes in the same transaction. It fails with
// fault.ErrInvalid if the origin is not valid (validOrigin).
func (s *Store) AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error) {
	op := "catalog.AddOrigin " + o.ID
	if err := validOrigin(o); err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	err = s.db.Write(ctx, op, func(c *sqldb.Conn) error {
		known, ok, err := findOrigin(c, o.ID)
		switch isNew = !ok; {
		case err != nil:
			return err
		case isNew:
			err = insertOrigin(c, o)
		default:
			if o.Branches == nil {
				o.Branches = known.Branches
			}
			if o.Tags == nil {
				o.Tags = known.Tags
			}
			if !o.Listed {
				if known.MovedFrom != "" {
					known.URI = o.URI
				}
				known.Listed, known.MovedFrom, known.MovesTo = false, "", ""
			}
			err = c.Exec("UPDATE origin SET priority = ?, branches = ?, listed = ?, uri = ?, moved_from = ?, moves_to = ? WHERE id = ?",
				o.Priority, joinRefs(o), known.Listed, known.URI, known.MovedFrom, known.MovesTo, o.ID)
		}
		if err != nil || s.schedule == nil {
			return err
		}
		return s.schedule.OriginAdded(c, o)
	})
	return isNew && err == nil, err
}

// tagRef begins the patterns of tags in the column branches, which no branch begins with.
const tagRef = "refs/tags/"

// joinRefs returns the column branches of an origin: a line for each branch, then for each tag.
func joinRefs(o models.Origin) string {
	lines := slices.Clone(o.Branches)
	for _, tag := range o.Tags {
		lines = append(lines, tagRef+tag)
	}
	return strings.Join(lines, "\n")
}

// splitRefs sets the branches and tags of an origin from the column branches.
func splitRefs(o *models.Origin, column string) {
	for line := range strings.SplitSeq(column, "\n") {
		if tag, ok := strings.CutPrefix(line, tagRef); ok {
			o.Tags = append(o.Tags, tag)
		} else if line != "" {
			o.Branches = append(o.Branches, line)
		}
	}
}

func insertOrigin(c *sqldb.Conn, o models.Origin) error {
	return c.Exec(`INSERT INTO origin (id, kind, uri, priority, added_at, last_visit, last_outcome, last_error, listed, branches)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, o.ID, o.Kind, o.URI, o.Priority, stamp(o.AddedAt),
		stamp(o.LastVisit), o.LastOutcome, o.LastError, o.Listed, joinRefs(o))
}

// AddListed adds an origin that a lister named, in a transaction of the schedule. It returns the origin as the
// catalog has it, because a known origin is not changed. It fails with fault.ErrInvalid if the origin is invalid.
func (s *Store) AddListed(c *sqldb.Conn, o models.Origin) (models.Origin, error) {
	if err := validOrigin(o); err != nil {
		return o, err
	}
	known, ok, err := findOrigin(c, o.ID)
	if err != nil || ok {
		return known, err
	}
	return o, insertOrigin(c, o)
}

// SetRefs replaces the branches and tags of the origin with the id of o, in a transaction of the schedule. An
// unknown id changes nothing.
func (s *Store) SetRefs(c *sqldb.Conn, o models.Origin) error {
	return c.Exec("UPDATE origin SET branches = ? WHERE id = ?", joinRefs(o), o.ID)
}

// validOrigin returns fault.ErrInvalid unless the id, the branches, the kind and the URI
// of an origin are valid, and fault.ErrConflict if no program's origin has such a URI.
func validOrigin(o models.Origin) error {
	if !models.ValidID(o.ID) {
		return fmt.Errorf("the id must be 1 to 128 of A-Z a-z 0-9 . _ : -; got %q: %w", o.ID, fault.ErrInvalid)
	}
	for _, patterns := range [][]string{o.Branches, o.Tags} {
		if !models.ValidBranches(patterns) || slices.ContainsFunc(patterns, func(b string) bool { return strings.HasPrefix(b, tagRef) }) {
			return fmt.Errorf("branches or tags %.200q: %w: %s", patterns, fault.ErrInvalid, models.BranchRule)
		}
	}
	if o.Kind.Known() && o.URI != "" && wording.IsStorable(o.URI) || o.Kind.IsProgram() && o.Kind.Accepted(o.URI) {
		return nil
	}
	kind := fault.ErrInvalid
	if o.Kind.IsProgram() && o.URI != "" {
		kind = fault.ErrConflict // a program has no such origin
	}
	return fmt.Errorf("an origin needs a URI and a kind of %s; got %q and %q: %w", wording.Or(append(models.VisitedKinds(), models.API)...), o.URI, o.Kind, kind)
}

const selectOrigin = `SELECT id, kind, uri, priority, added_at, last_visit, last_outcome, last_error, listed, branches, moves_to, moves_since, moved_from FROM origin`

func scanOrigin(row sqldb.Row) (models.Origin, error) {
	var o models.Origin
	var added, visited, moves int64
	var branches string
	err := row.Scan(&o.ID, &o.Kind, &o.URI, &o.Priority, &added, &visited, &o.LastOutcome, &o.LastError, &o.Listed, &branches, &o.MovesTo, &moves, &o.MovedFrom)
	splitRefs(&o, branches)
	o.AddedAt, o.LastVisit = moment(added), moment(visited)
	if o.MovesTo != "" {
		o.MovesSince = moment(moves)
	}
	return o, err
}

// Origin returns fault.ErrNotFound for an unknown id.
func (s *Store) Origin(ctx context.Context, id string) (o models.Origin, err error) {
	err = s.db.Read(ctx, "catalog.Origin "+id, func(c *sqldb.Conn) error {
		var ok bool
		o, ok, err = findOrigin(c, id)
		return found(ok, err)
	})
	return o, err
}

func findOrigin(c *sqldb.Conn, id string) (o models.Origin, ok bool, err error) {
	ok, err = c.One(selectOrigin+` WHERE id = ?`, []any{id}, func(row sqldb.Row) (err error) {
		o, err = scanOrigin(row)
		return err
	})
	return o, ok, err
}

// Origins lists all origins, oldest first; those that were added at the same time in the order in which they were
// inserted.
func (s *Store) Origins(ctx context.Context) (list []models.Origin, err error) {
	err = s.db.Read(ctx, "catalog.Origins", func(c *sqldb.Conn) error {
		return c.All(selectOrigin+` ORDER BY added_at, number`, nil, func(row sqldb.Row) error {
			o, err := scanOrigin(row)
			list = append(list, o)
			return err
		})
	})
	return list, err
}

// RecordOutcome stores how a visit ended, and replaces the problem of the visit before.
func (s *Store) RecordOutcome(ctx context.Context, o models.Outcome) error {
	return s.db.Write(ctx, "catalog.RecordOutcome "+o.Origin, func(c *sqldb.Conn) error {
		_, err := s.RecordOutcomeIn(c, o)
		return err
	})
}

// RecordOutcomeIn is RecordOutcome in a transaction of the schedule. It returns the new URI if the origin moves. It
// changes nothing if a later outcome was recorded. fault.ErrNotFound: the origin is unknown.
func (s *Store) RecordOutcomeIn(c *sqldb.Conn, o models.Outcome) (movedTo string, err error) {
	number, err := originNumber(c, o.Origin)
	if err != nil {
		return "", err
	}
	n, err := c.Affect(`UPDATE origin SET last_visit = ?2, last_outcome = ?3, last_error = ?4
		WHERE id = ?1 AND last_visit <= ?2`, o.Origin, stamp(o.At), o.Status, shown(o.Error))
	if err != nil || n == 0 {
		return "", err
	}
	if err := replaceVisitProblem(c, number, o); err != nil {
		return "", err
	}
	if o.Status != models.Eventful && o.Status != models.Uneventful {
		return "", nil
	}
	return recordMove(c, number, o)
}

// RemoveOrigin hides the recordings of the origin in short transactions, deletes them, and then deletes the
// origin. After a kill or an error in between the origin is still there, without some of its recordings, and
// RemoveOrigin may be repeated. A hidden clip may leave a duplicate as the first of its content (markDuplicates).
// An unknown id gives fault.ErrNotFound.
func (s *Store) RemoveOrigin(ctx context.Context, id string) error {
	op := "catalog.RemoveOrigin " + id
	unlock, err := s.lockOrigin(ctx, op, id)
	if err != nil {
		return err
	}
	defer unlock()
	var origin int64
	err = s.db.Read(ctx, op, func(c *sqldb.Conn) (err error) {
		origin, err = originNumber(c, id)
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range []table{episodes, clips} {
		if err := s.retireAll(ctx, op, t, origin); err != nil {
			return err
		}
	}
	if err := s.deleteRetired(ctx, op); err != nil {
		return err
	}
	if s.schedule != nil {
		if err := s.schedule.BeforeRemoval(ctx, id); err != nil {
			return err
		}
	}
	return s.db.Write(ctx, op, func(c *sqldb.Conn) error {
		if err := c.Exec("DELETE FROM origin WHERE number = ?", origin); err != nil || s.schedule == nil {
			return err
		}
		return s.schedule.OriginRemoved(c, id)
	})
}

// retireAll retires the recordings of an origin in one table, in a step each, but not those that are retired
// (gone is 2).
func (s *Store) retireAll(ctx context.Context, op string, t table, origin int64) error {
	var last int64
	return s.db.Steps(ctx, op, func(c *sqldb.Conn) (done bool, err error) {
		var hash string
		left, err := c.One("SELECT number, hash FROM "+string(t)+" WHERE origin = ? AND number > ? AND gone <> 2 ORDER BY number LIMIT 1",
			[]any{origin, last}, sqldb.Into(&last, &hash))
		if err != nil || !left {
			return true, err
		}
		if err := retire(c, t, last); err != nil || t == episodes {
			return false, err
		}
		s.forgetClips(c)
		_, err = s.markDuplicates(c, hash, last)
		return false, err
	})
}

func originNumber(c *sqldb.Conn, id string) (number int64, err error) {
	ok, err := c.One("SELECT number FROM origin WHERE id = ?", []any{id}, func(row sqldb.Row) error {
		return row.Scan(&number)
	})
	return number, found(ok, err)
}

// found returns fault.ErrNotFound if no row was found and err is nil, otherwise err.
func found(ok bool, err error) error {
	if err == nil && !ok {
		return fault.ErrNotFound
	}
	return err
}
