package sqlite

import (
	"context"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
)

// AddOrigin is part of catalog.Catalog.
func (s *Store) AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error) {
	op := "catalog.AddOrigin " + o.ID
	if err := validOrigin(o); err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	err = s.change(ctx, op, func(c *session) error {
		n, err := c.Affect("UPDATE origin SET priority = ?2 WHERE id = ?1", o.ID, o.Priority)
		if err != nil || n > 0 {
			return err
		}
		isNew = true
		err = c.Exec(`INSERT INTO origin (id, kind, uri, priority, added_at, last_visit, last_outcome, last_error)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, o.ID, o.Kind, o.URI, o.Priority, stamp(o.AddedAt),
			stamp(o.LastVisit), o.LastOutcome, o.LastError)
		return err
	})
	return isNew && err == nil, err
}

func validOrigin(o models.Origin) error {
	if !models.ValidID(o.ID) {
		return fmt.Errorf("the id must be 1 to 128 of A-Z a-z 0-9 . _ : -; got %q: %w", o.ID, fault.ErrInvalid)
	}
	if o.Kind.Known() && o.URI != "" {
		return nil
	}
	return fmt.Errorf("an origin needs a URI and a kind of %v or %s; got %q and %q: %w", models.VisitedKinds(), models.API, o.URI, o.Kind, fault.ErrInvalid)
}

const selectOrigin = `SELECT id, kind, uri, priority, added_at, last_visit, last_outcome, last_error FROM origin`

func scanOrigin(row scanner) (models.Origin, error) {
	var o models.Origin
	var added, visited int64
	err := row.Scan(&o.ID, &o.Kind, &o.URI, &o.Priority, &added, &visited, &o.LastOutcome, &o.LastError)
	o.AddedAt, o.LastVisit = moment(added), moment(visited)
	return o, err
}

// Origin is part of catalog.Catalog.
func (s *Store) Origin(ctx context.Context, id string) (o models.Origin, err error) {
	err = s.use(ctx, "catalog.Origin "+id, func(c *session) error {
		ok, err := c.One(selectOrigin+` WHERE id = ?`, []any{id}, func(row scanner) (err error) {
			o, err = scanOrigin(row)
			return err
		})
		return found(ok, err)
	})
	return o, err
}

// Origins is part of catalog.Catalog.
func (s *Store) Origins(ctx context.Context) (list []models.Origin, err error) {
	err = s.use(ctx, "catalog.Origins", func(c *session) error {
		return c.All(selectOrigin+` ORDER BY added_at, number`, nil, func(row scanner) error {
			o, err := scanOrigin(row)
			list = append(list, o)
			return err
		})
	})
	return list, err
}

// RecordOutcome is part of catalog.Catalog.
func (s *Store) RecordOutcome(ctx context.Context, o models.Outcome) error {
	return s.change(ctx, "catalog.RecordOutcome "+o.Origin, func(c *session) error {
		number, err := originNumber(c, o.Origin)
		if err != nil {
			return err
		}
		n, err := c.Affect(`UPDATE origin SET last_visit = ?2, last_outcome = ?3, last_error = ?4
			WHERE id = ?1 AND last_visit <= ?2`, o.Origin, stamp(o.At), o.Status, o.Error)
		if err != nil || n == 0 {
			return err
		}
		return replaceVisitProblem(c, number, o)
	})
}

// RemoveOrigin is part of catalog.Catalog.
func (s *Store) RemoveOrigin(ctx context.Context, id string) error {
	return s.change(ctx, "catalog.RemoveOrigin "+id, func(c *session) error {
		number, err := originNumber(c, id)
		if err != nil {
			return err
		}
		return s.changeClips(c, func(touched hashes) error {
			err := c.All("SELECT DISTINCT hash FROM clip WHERE origin = ? AND hash <> ''", []any{number}, touched.scan)
			if err != nil {
				return err
			}
			err = c.Exec("DELETE FROM origin WHERE number = ?", number)
			return err
		})
	})
}

func originNumber(c *session, id string) (number int64, err error) {
	ok, err := c.One("SELECT number FROM origin WHERE id = ?", []any{id}, func(row scanner) error {
		return row.Scan(&number)
	})
	return number, found(ok, err)
}

// found turns "there is no such row" into an error.
func found(ok bool, err error) error {
	if err == nil && !ok {
		return fault.ErrNotFound
	}
	return err
}
