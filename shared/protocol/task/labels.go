package task

import (
	"strconv"
	"strings"

	"leasehold/shared/space"
)

// The labels of tasks in the space "task". Each begins with a letter of its own; the parts
// are separated by a zero byte, which no part may contain.
//
//	g action priority group  waits, and has a turn in its group
//	s state action           claimed, or hidden for that reason
//	u key, v key             has the unique key, or will have it next
//	p parent                 is a child of that task
//	l limit                  is claimed, and has a slot of that limit
//	a session                is a suspect that the session has alone, or is reserved for
//	x                        is a suspect that waits
//	w limit, w limit action  is hidden until that limit has a free slot
//	t tag
func label(kind string, parts ...string) string { return kind + strings.Join(parts, "\x00") }

func groupLabel(i Item) string {
	return label("g", i.Action, strconv.FormatInt(i.Priority, 10), i.Group)
}

func stateLabel(state State, action string) string { return label("s", string(state), action) }
func keyLabel(key string) string                   { return label("u", key) }
func nextKeyLabel(key string) string               { return label("v", key) }
func childLabel(parent string) string              { return label("p", parent) }
func slotLabel(limit string) string                { return label("l", limit) }
func limitedLabel(limit string) string             { return label("w", limit) }
func limitedOf(limit, action string) string        { return label("w", limit, action) }

func aloneLabel(session string) string { return label("a", session) }

// suspectLabel is the label of the suspects that wait.
const suspectLabel = "x"

func tagLabels(tags []string) (all []string) {
	for _, tag := range tags {
		all = append(all, label("t", tag))
	}
	return all
}

func labelsOf(i Item) []string {
	all := tagLabels(i.Tags)
	if i.suspect() && i.onlyFor != "" {
		all = append(all, aloneLabel(i.onlyFor))
	}
	if i.suspect() && i.state() == Waiting {
		all = append(all, suspectLabel)
	}
	if state := i.state(); state != Waiting {
		all = append(all, stateLabel(state, i.Action))
	}
	if i.queued && i.CurrentClaimant == "" {
		all = append(all, groupLabel(i))
	}
	if i.UniqueKey != "" && i.Behind {
		all = append(all, nextKeyLabel(i.UniqueKey))
	} else if i.UniqueKey != "" {
		all = append(all, keyLabel(i.UniqueKey))
	}
	for _, parent := range i.After {
		all = append(all, childLabel(parent))
	}
	if i.CurrentClaimant != "" {
		for _, limit := range i.Limits {
			all = append(all, slotLabel(limit))
		}
	} else if i.Hidden == Limited {
		all = append(all, limitedLabel(i.HiddenBy), limitedOf(i.HiddenBy, i.Action))
	}
	return all
}

// State is what a task can do next.
type State string

// The states. A task that waits may also be in its back-off, or wait for a slot of a limit:
// Item.Hidden tells it.
const (
	Waiting      State = "waiting"
	StateDelayed State = "delayed"
	StateBlocked State = "blocked"
	StatePaused  State = "paused"
	Claimed      State = "claimed"
	Resolved     State = "resolved"
	StateDead    State = "dead"
	Cancelled    State = "cancelled"
	inBackOff    State = "back-off" // a label only
	behindLimit  State = "limit"    // a label only
)

// state returns the state by which a live task is labelled.
func (i Item) state() State {
	if i.CurrentClaimant != "" {
		return Claimed
	}
	if i.Hidden == "" {
		return Waiting
	}
	return State(i.Hidden)
}

// StateNow returns the state of a live task, or of one that ended when it was created.
func (i Item) StateNow() State {
	if i.EndedAs != "" {
		return i.EndedAs
	}
	if s := i.state(); s != inBackOff && s != behindLimit {
		return s
	}
	return Waiting
}

// first returns the first task with a label, and reports whether there is one.
func first(tx space.Tx, label string) (found space.Entry, ok bool) {
	tx.Walk(space.Walk{Space: Space, Label: label}, func(e space.Entry) bool {
		found, ok = e, true
		return false
	})
	return found, ok
}

// withLabel returns the first entries with a label, at most n.
func withLabel(tx space.Tx, name, label string, n int) (all []space.Entry) {
	tx.Walk(space.Walk{Space: name, Label: label}, func(e space.Entry) bool {
		all = append(all, e)
		return len(all) < n
	})
	return all
}
