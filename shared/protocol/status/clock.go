package status

import (
	"context"
	"time"

	machine "leasehold/shared/process/clock"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// clockTolerance is by how much a clock may differ from the coordinator's before that is noted. A call takes some of it
// on its way.
const clockTolerance = 2 * time.Second

// clockInterval is the time between two reports of a clock.
const clockInterval = time.Minute

// Clock is a session whose wall clock differs from the coordinator's by more than 2 s.
type Clock struct {
	ID    string
	Ahead time.Duration // negative: it is behind
}

// clock (milliseconds since 1970) notes by how much the caller's clock differs, or removes the note if it does not.
func clock(tx space.Tx, milliseconds int64) error {
	ahead := time.UnixMilli(milliseconds).Sub(tx.Now())
	e, known := tx.Find(Space, matchClock(tx.Caller()), nil)
	switch {
	case tx.Caller() == "":
		return nil
	case ahead.Abs() > clockTolerance && known:
		return tx.Replace(e.Ref, Clock{tx.Caller(), ahead}.encode())
	case ahead.Abs() > clockTolerance:
		_, err := tx.Put(Space, Clock{tx.Caller(), ahead}.encode(), space.PutOptions{Ephemeral: true})
		return err
	case known:
		return tx.Take(e.Ref)
	}
	return nil
}

// reportClock tells the coordinator this machine's time. Errors are ignored, because an older coordinator does not know
// the procedure, and only a note would be missing.
func reportClock(ctx context.Context, repo space.Repository) {
	_, _ = space.Once(repo).Call(ctx, space.OpID{}, procClock, tuple.New(machine.Now().UnixMilli()))
}

// Clocks returns the live sessions whose clocks differ from the coordinator's by more than 2 s.
func Clocks(ctx context.Context, repo space.Repository) ([]Clock, error) {
	found, err := repo.Space(Space).QueryAll(ctx, matchClock(tuple.AnyString))
	all := make([]Clock, len(found))
	for n, t := range found {
		all[n] = decodeClock(t)
	}
	return all, err
}
