package store

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// notedSchedule notes the calls of a store, and fails the named one.
type notedSchedule struct {
	calls []string
	fails string
}

var errSchedule = errors.New("the schedule fails for a test")

func (s *notedSchedule) note(call string) error {
	s.calls = append(s.calls, call)
	if call == s.fails {
		return errSchedule
	}
	return nil
}

func (s *notedSchedule) OriginAdded(_ *sqldb.Conn, o models.Origin) error {
	return s.note("added " + o.ID)
}
func (s *notedSchedule) OriginPriority(_ *sqldb.Conn, id string, _ int64) error {
	return s.note("priority " + id)
}
func (s *notedSchedule) BeforeRemoval(_ context.Context, id string) error {
	return s.note("before " + id)
}
func (s *notedSchedule) OriginRemoved(_ *sqldb.Conn, id string) error {
	return s.note("removed " + id)
}

func TestTheScheduleChangesWithTheOriginsOrNothingDoes(t *testing.T) {
	t.Parallel()
	schedule := &notedSchedule{}
	s := openStore(t, newPath(t))
	s.schedule = schedule
	o := models.Origin{ID: "o", Kind: models.Feed, URI: "u"}
	add := func() error {
		isNew, err := s.AddOrigin(t.Context(), o)
		if err != nil {
			require.False(t, isNew)
		}
		return err
	}
	prioritize := func() error { _, err := s.SetOriginPriority(t.Context(), "o", 5); return err }
	remove := func() error { return s.RemoveOrigin(t.Context(), "o") }
	for _, c := range []struct {
		fails  string
		call   func() error
		known  bool // the origin is in the catalog then
		change int64
	}{
		{"added o", add, false, 0}, {"", add, true, 0}, {"priority o", prioritize, true, 0}, {"", prioritize, true, 5},
		{"before o", remove, true, 5}, {"removed o", remove, true, 5}, {"", remove, false, 0},
	} {
		schedule.fails = c.fails
		err := c.call()
		if c.fails == "" {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, errSchedule, c.fails)
		}
		got, err := s.Origin(t.Context(), "o")
		require.Equal(t, c.known, err == nil, c.fails)
		require.Equal(t, c.change, got.Priority, c.fails)
	}
	want := []string{"added o", "added o", "priority o", "priority o", "before o", "before o", "removed o", "before o", "removed o"}
	require.Equal(t, want, schedule.calls)
}

func TestAnOriginThatAListerNamedIsAddedOnce(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	addListed := func(o models.Origin) (got models.Origin, err error) {
		err = s.db.Write(t.Context(), "test", func(c *sqldb.Conn) error {
			got, err = s.AddListed(c, o)
			return err
		})
		return got, err
	}
	first := models.Origin{ID: "o", Kind: models.Git, URI: "https://example.org/a.git", Listed: true, Priority: 2, AddedAt: today, LastVisit: moment(0), Branches: []string{"main"}}
	got, err := addListed(first)
	require.NoError(t, err)
	require.Equal(t, first, got)
	other := first
	other.URI, other.Priority = "https://example.org/b.git", 7
	got, err = addListed(other)
	require.NoError(t, err)
	require.Equal(t, first.URI, got.URI, "it stays as it is")
	require.EqualValues(t, 2, got.Priority)
	other.ID = "not an id"
	_, err = addListed(other)
	require.ErrorIs(t, err, fault.ErrInvalid)
	for _, branches := range [][]string{{"a", "b"}, nil} {
		for _, id := range []string{"o", "unknown"} {
			require.NoError(t, s.db.Write(t.Context(), "test", func(c *sqldb.Conn) error { return s.SetRefs(c, models.Origin{ID: id, Branches: branches}) }))
		}
		got, err = s.Origin(t.Context(), "o")
		require.NoError(t, err)
		require.True(t, slices.Equal(branches, got.Branches))
	}
	all, err := s.Origins(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestOneCallAtATimeChangesTheRecordingsOfAnOrigin(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	left := errors.New("left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	for range 3 {
		unlock, err := s.lockOrigin(t.Context(), "test", "o")
		require.NoError(t, err)
		for range 10 {
			_, err = s.lockOrigin(ctx, "test", "o")
			require.ErrorIs(t, err, left)
			require.ErrorContains(t, err, "test: ")
		}
		unlock()
	}
}

func TestAllRecordingsOfARemovedOriginAreDeleted(t *testing.T) {
	t.Parallel()
	s := openStore(t, newPath(t))
	fill(t, s, 120, 30)
	require.NoError(t, s.RemoveOrigin(t.Context(), "show"))
	require.NoError(t, s.RemoveOrigin(t.Context(), "spots"))
	for _, t1 := range []string{"episode", "clip", "origin", "candidate"} {
		require.Zero(t, number(t, s, "SELECT count(*) FROM "+t1), t1)
	}
}
