package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Limits of the lines of one session: twice those of a Forwarder, so that only a session that has none
// meets them.
const (
	maxLine   = 2 * maxLogMessage // bytes of a message
	lineBurst = 2 * forwardBurst  // lines at once
	lineRate  = 2 * forwardRate   // lines in a second, after a burst
)

// levels are the levels of a line.
var levels = []string{"debug", "info", "warn", "error"}

// Write adds a line to the space "log". If its ID is not that of repo's session, its message ends with the id of that
// session. It fails with fault.ErrInvalid for an invalid ID or an unknown level, with fault.ErrTooLarge for a message
// of more than 2,000 bytes, and with fault.ErrOverloaded if the session writes more than 20 lines in a second after a
// burst of 200.
func Write(ctx context.Context, repo space.Repository, l Line) error {
	if _, err := repo.Call(ctx, space.OpID{}, procLog, l.encode()[1:]); err != nil {
		return fmt.Errorf("status.Write: %w", err)
	}
	return nil
}

// writeLine (at, id, level, message) adds a line that the caller writes.
func writeLine(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	l, err := decodeLogArgs(args)
	switch {
	case tx.Caller() == "":
		return nil, fmt.Errorf("%s: %w: only a session can write to the log", procLog, fault.ErrInvalid)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: the time: %w; want RFC 3339", procLog, fault.ErrInvalid, err)
	case !models.ValidID(l.ID):
		return nil, fmt.Errorf("%s: %w: id %.200q: %s", procLog, fault.ErrInvalid, l.ID, models.IDRule)
	case !slices.Contains(levels, l.Level):
		return nil, fmt.Errorf("%s: %w: level %.100q: want one of %s", procLog, fault.ErrInvalid, l.Level, levels)
	case len(l.Message) > maxLine:
		return nil, fmt.Errorf("%s: %w: a message of %d bytes, at most %d", procLog, fault.ErrTooLarge, len(l.Message), maxLine)
	}
	if err := countLine(tx); err != nil {
		return nil, err
	}
	l.Message = withoutControls(l.Message)
	if l.ID != tx.Caller() {
		l.Message += " (written by " + tx.Caller() + ")"
	}
	_, err = tx.Put(Log, l.encode(), space.PutOptions{})
	return nil, err
}

// countLine counts a line of the caller at its rate, by the generic cell rate algorithm (ITU-T I.371). It fails with
// fault.ErrOverloaded if the caller has written too many.
func countLine(tx space.Tx) error {
	const interval = time.Second / lineRate
	now, state := tx.Elapsed(), logged{id: tx.Caller()}
	e, known := tx.Find(Space, matchLogged(state.id), nil)
	if known {
		state = decodeLogged(e.Tuple)
	}
	if time.Duration(state.next)-now > (lineBurst-1)*interval {
		return fmt.Errorf("%w: session %s writes more than %d lines a second to the log", fault.ErrOverloaded, state.id, lineRate)
	}
	state.next = int64(max(time.Duration(state.next), now) + interval)
	if known {
		return tx.Replace(e.Ref, state.encode())
	}
	_, err := tx.Put(Space, state.encode(), space.PutOptions{Ephemeral: true})
	return err
}

// Lines returns all lines of the space "log", the oldest first, at most as many as it keeps. It fails with
// fault.ErrTooLarge and returns none if the lines together are larger than space.MaxReply.
func Lines(ctx context.Context, repo space.Repository) ([]Line, error) {
	found, err := repo.Space(Log).QueryAll(ctx, MatchLog(tuple.AnyString, tuple.AnyString))
	lines := make([]Line, len(found))
	for i, t := range found {
		lines[i] = decodeLine(t)
	}
	return lines, err
}
