package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/space/journal"
)

// The statements of a commit. Each is a transaction of its own, and changes nothing unless epoch and position are as
// expected.
const (
	moveRealm = `WITH moved AS (UPDATE realm SET position = $3, clock = $4, ref = $5 WHERE epoch = $1 AND position = $2 RETURNING position)`
	insertLog = ` INSERT INTO log SELECT position, $6::bytea FROM moved`
	// insertHistory is left out of a commit without history, because most have none.
	insertHistory = `, made AS (INSERT INTO history SELECT h.* FROM moved,
		unnest($7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::bytea[]) AS h)`

	confirmRealm = `UPDATE realm SET renewed = renewed + 1 WHERE epoch = $1 AND position = $2`
)

// Commit implements journal.Journal. It returns once the transaction is durable, at the synchronous standby too if the
// database has one. ErrFenced, journal.ErrFull, and an error without journal.ErrDeposed mean that nothing was written.
func (j *Journal) Commit(ctx context.Context, expected journal.Position, records []journal.Record) error {
	return j.asOwner(ctx, func(w *writer) error {
		if j.owned.standing.Position != expected {
			return journal.ErrFenced
		}
		if len(records) == 0 {
			return j.confirm(ctx, w)
		}
		g := j.owned.group(records)
		n, err := w.exec(ctx, g.statement(), g.args(j.epoch.Load(), expected)...)
		if err == nil && n == 0 {
			err = j.explainLoss(ctx)
		}
		if err != nil {
			return err
		}
		j.owned.standing, j.owned.newest, j.owned.written = g.standing, g.newest, time.Now()
		j.backlog.add(len(g.changes))
		return nil
	})
}

// Confirm implements journal.Owned. It is a commit, because a server that was cut off from its standby still answers
// queries.
func (j *Journal) Confirm(ctx context.Context) error {
	return j.asOwner(ctx, func(w *writer) error { return j.confirm(ctx, w) })
}

// confirm raises the counter of the realm, if that stands where the owner left it. The caller has the turn.
func (j *Journal) confirm(ctx context.Context, w *writer) error {
	n, err := w.exec(ctx, confirmRealm, j.epoch.Load(), int64(j.owned.standing.Position))
	if err == nil && n == 0 {
		err = j.explainLoss(ctx)
	}
	if err == nil {
		j.owned.written = time.Now()
	}
	return err
}

// asOwner calls do with the connection of the owner, when it is this call's turn. If do fails with
// journal.ErrDeposed, the journal has ended.
func (j *Journal) asOwner(ctx context.Context, do func(*writer) error) error {
	done, err := j.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	if j.epoch.Load() == 0 {
		return j.named(fmt.Errorf("it was not claimed: %w", journal.ErrDeposed))
	}
	err = do(j.writer)
	if errors.Is(err, journal.ErrDeposed) {
		return j.end(j.named(err))
	}
	if errors.Is(err, journal.ErrFenced) || err == nil {
		return err
	}
	return j.named(err)
}

// explainLoss returns a journal.ErrDeposed that tells why a commit found another epoch or position.
func (j *Journal) explainLoss(ctx context.Context) error {
	var epoch uint64
	var name string
	if err := j.pool.QueryRow(ctx, "SELECT epoch, name FROM owner").Scan(&epoch, &name); err != nil {
		return fmt.Errorf("%w: its owner could not be read: %w", journal.ErrDeposed, err)
	}
	if epoch == j.epoch.Load() {
		return fmt.Errorf("%w, or the database was restored: its position is not the one that epoch %d left", journal.ErrDeposed, epoch)
	}
	return fmt.Errorf("%w: %q, in epoch %d; this one had epoch %d", journal.ErrDeposed, name, epoch, j.epoch.Load())
}

// group is what a commit writes.
type group struct {
	standing journal.Standing // after it
	newest   journal.Historic
	changes  []byte
	history  []*journal.Historic
}

// group returns what records write in the place where the owner stands.
func (o *owned) group(records []journal.Record) group {
	g := group{standing: o.standing, newest: o.newest}
	g.standing.Position += journal.Position(len(records))
	for _, r := range records {
		g.standing.Clock = r.Clock
		for _, f := range r.Facts {
			g.add(f)
		}
	}
	return g
}

// add adds a fact. A record of the history is counted.
func (g *group) add(f journal.Fact) {
	switch f := f.(type) {
	case *journal.Entry:
		g.standing.Ref = max(g.standing.Ref, f.Ref, f.Place)
	case *journal.Historic:
		g.standing.Ref = max(g.standing.Ref, f.Seq)
		h := *f
		h.Count, h.Bytes = g.newest.Count+1, g.newest.Bytes+h.Size()
		g.newest = journal.Historic{Count: h.Count, Bytes: h.Bytes}
		g.history = append(g.history, &h)
	}
	g.changes = appendFact(g.changes, f)
}

func (g *group) statement() string {
	if len(g.history) == 0 {
		return moveRealm + insertLog
	}
	return moveRealm + insertHistory + insertLog
}

// args returns the arguments of the statement.
func (g *group) args(epoch uint64, expected journal.Position) []any {
	changes := g.changes
	if changes == nil {
		changes = []byte{} // nil would be NULL
	}
	args := []any{int64(epoch), int64(expected), int64(g.standing.Position), int64(g.standing.Clock), g.standing.Ref, changes}
	if len(g.history) == 0 {
		return args
	}
	var seq, clock, count, bytes []int64
	var keys, values [][]byte
	for _, h := range g.history {
		seq, clock, count, bytes = append(seq, h.Seq), append(clock, int64(h.Clock)), append(count, h.Count), append(bytes, h.Bytes)
		keys, values = append(keys, []byte(h.Key)), append(values, []byte(h.Value))
	}
	return append(args, seq, clock, count, bytes, keys, values)
}
