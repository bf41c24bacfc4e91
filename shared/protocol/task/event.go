package task

import (
	"time"

	"leasehold/shared/space"
)

// Event is what happened to a task. The procedures pass events to the observer of the engine (space.Tx.Note), which
// counts and measures them. They are not durable.
type Event struct {
	Kind   EventKind
	Action string
	// Outcome is a State of an EventEnded: Resolved, Cancelled or StateDead. Of an EventFailed it is Released, TimedOut or
	// WorkerLost.
	Outcome string
	// Took is, of an EventStarted, how long a worker could have claimed the task before one did, pauses of its action
	// included; otherwise how long the attempt ran that ended, 0 if no worker had the task. It is never negative.
	Took time.Duration
	// Ran reports whether a worker had the task when it ended.
	Ran bool
}

// EventKind is what an Event is about.
type EventKind int

// The kinds.
const (
	EventCreated EventKind = iota + 1 // a task was created; not one that was requeued
	EventStarted                      // a worker claimed it
	EventEnded                        // it was resolved, cancelled, or became a dead letter
	EventFailed                       // an attempt ended without a result, and was not handed back
)

// Outcomes of EventFailed.
const (
	Released   = "failed"
	TimedOut   = "timeout"
	WorkerLost = "lost"
)

// noteEnd notes the end of a task, which may be a dead letter now. i is the task as it was.
func noteEnd(tx space.Tx, i Item, state State) {
	ended := Event{Kind: EventEnded, Action: i.Action, Outcome: string(state)}
	if i.CurrentClaimant != "" {
		ended.Ran, ended.Took = true, since(tx.Now(), i.ClaimedAt)
	}
	tx.Note(ended)
}

// offeredSince returns since when workers may claim the task of a visible tuple.
func (i Item) offeredSince() time.Time {
	latest := i.CreatedAt
	for _, at := range []time.Time{i.queuedAt, i.backAt} {
		if at.After(latest) {
			latest = at
		}
	}
	return latest
}

// inQueueSince returns since when the task of a visible tuple has had its place in the queue: a claim that was handed
// back keeps it.
func (i Item) inQueueSince() time.Time {
	if i.queuedAt.IsZero() {
		return i.CreatedAt
	}
	return i.queuedAt
}

// since returns the time from one moment to a later one; 0 if the clock went back, or began is not known.
func since(now, began time.Time) time.Duration {
	if began.IsZero() {
		return 0
	}
	return max(now.Sub(began), 0)
}
