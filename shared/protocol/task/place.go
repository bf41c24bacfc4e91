package task

import (
	"math"
	"strings"
	"time"

	"leasehold/shared/space"
)

// place decides where a task goes that no worker has: it becomes visible, so that workers may claim it, or is hidden
// for the first reason that applies; a full limit may also drop it (meetLimit). i is the task as it shall be, e its
// entry. A task that comes back from a delay gets a new turn.
func (p Policy) place(tx space.Tx, e space.Entry, i Item, at space.Placement) error {
	i.CurrentClaimant, i.ClaimedAt, i.Progress, i.onlyFor = "", time.Time{}, nil, ""
	now := tx.Now()
	switch blocker := i.blocker(tx); {
	case blocker != "":
		return hide(tx, e, i, Blocked, blocker)
	case i.NotBefore.After(now):
		return hideFor(tx, e, i, Delayed, "", i.NotBefore.Sub(now))
	case i.RetryAt.After(now):
		return hideFor(tx, e, i, BackOff, "", i.RetryAt.Sub(now))
	case isPaused(tx, i.Action):
		return hide(tx, e, i, Paused, "")
	}
	if limit := fullLimit(tx, e, i); limit != "" {
		return p.meetLimit(tx, e, i, limit)
	}
	return show(tx, e, i, at)
}

// blocker returns the task for which i waits; empty if it waits for none, also because the task
// that had its unique key has ended.
func (i Item) blocker(tx space.Tx) string {
	if len(i.Pending) > 0 {
		return i.Pending[0]
	}
	if !i.Behind {
		return ""
	}
	running, _ := first(tx, keyLabel(i.UniqueKey))
	return decodeHeader(running.Tuple).ID
}

// hide is hideFor without a time: the task is placed again when the reason is gone, or it expires.
func hide(tx space.Tx, e space.Entry, i Item, why Hidden, by string) error {
	return hideFor(tx, e, i, why, by, 0)
}

// hideFor holds a task without a session. With wait above 0 it is placed again after that time; it is placed again
// when it expires, too, unless it is dead already and waits for a space that takes its dead letter: that would repeat
// without a pause.
func hideFor(tx space.Tx, e space.Entry, i Item, why Hidden, by string, wait time.Duration) error {
	if err := freeReserved(tx, e, ""); err != nil {
		return err
	}
	i.Hidden, i.HiddenBy, i.onlyFor = why, by, ""
	if keepsTurn := why == Paused || why == Limited; !keepsTurn {
		i.queued = false
	}
	if dead := strings.HasPrefix(i.State, noSpaceForIt); !dead && !i.ExpiresAt.IsZero() {
		left := max(i.ExpiresAt.Sub(tx.Now()), time.Nanosecond)
		if wait == 0 || left < wait {
			wait = left
		}
	}
	if err := tx.Hold(e.Ref, space.HoldOptions{TTL: wait, Expiry: procReturn, NoSession: true}); err != nil {
		return err
	}
	return rewrite(tx, e, i, e.Turn)
}

func show(tx space.Tx, e space.Entry, i Item, at space.Placement) error {
	i.Hidden, i.HiddenBy, i.RetryAt = "", "", time.Time{}
	if i.suspect() {
		i.offeredAt = tx.Elapsed()
	}
	turn := e.Turn
	if !i.queued || at == space.NewPlace {
		i.queued, turn = true, nextTurn(tx, e.Ref, i)
		i.queuedAt, i.backAt = tx.Now(), time.Time{}
	}
	if err := rewrite(tx, e, i, turn); err != nil || !e.Held {
		return err
	}
	return tx.Back(e.Ref, at)
}

// rewrite replaces the task of an entry by i, with a turn. If the tuple is the same, only the attributes are written.
func rewrite(tx space.Tx, e space.Entry, i Item, turn int64) error {
	t, a := tupleOf(i)
	a.Turn = turn
	if e.Tuple.Equal(t) {
		t = nil
	}
	return tx.Amend(e.Ref, t, a)
}

// nextTurn returns the turn of a task that joins the end of its group. Turns make groups of
// one action and priority alternate, by start-time fair queueing (Goyal, Vin, Cheng: Start-
// time Fair Queuing, SIGCOMM 1996) with equal weights and tasks of length 1: the start tag
// of a task is
//
//	S = max(v, F),   F = the tag of the last task of its group that waits, plus 1,
//
// where v is the virtual time, for which the smallest tag of the tasks that wait is used, because the next task in
// service has it. Tasks are claimed in the order of their tags, and of equal tags the oldest first. So between two
// claims of a group that always has a task, each other group gets at most two, however long its queue is. A group
// without waiting tasks needs no state: its next task begins at v. self is the ref of the task, which does not count;
// 0 for a new one.
func nextTurn(tx space.Tx, self int64, i Item) int64 {
	var turn int64
	// An ordered space has the highest priority first, by ^. The function below does not use i, because
	// that would keep all of it on the heap.
	major := ^i.Priority
	tx.Walk(space.Walk{
		Space: Space, Template: AnyOf(i.Action), After: space.Position{Major: major, Turn: math.MinInt64},
	}, func(e space.Entry) bool {
		if e.Ref == self {
			return true
		}
		if e.Position.Major == major {
			turn = e.Turn
		}
		return false
	})
	if last, ok := tx.LastLabelled(Space, groupLabel(i)); ok && last.Ref != self {
		turn = max(turn, last.Turn+1)
	}
	return turn
}
