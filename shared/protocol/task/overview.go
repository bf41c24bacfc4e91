package task

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Bounds of an overview.
const (
	// MaxActions is how many actions an overview has.
	MaxActions = 1000
	// overviewed is how many actions one call of task.overview reads, because it counts the sessions that serve each.
	overviewed = 25
)

// ActionFacts are the tasks of one action, and who serves it.
type ActionFacts struct {
	Action      string
	Counts      Counts    // of tasks that are alive, by state, and of dead letters
	Workers     int64     // live sessions that serve it with at least one slot
	Slots       int64     // of these sessions
	InUse       int64     // of these slots; a session's tasks of other actions use them too
	Oldest      string    // the claimable task that has been in the queue for the longest time; empty: none is claimable
	OldestSince time.Time // when that task joined the queue; zero without one, and for a malformed one
}

// actions () returns how many actions have tasks, dead letters, a pause or a worker, and the names of the first
// MaxActions of them as one field. It visits no task.
func actions(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	names := map[string]bool{}
	for _, name := range []string{Space, Dead} {
		tx.Shares(name, func(s space.Share) bool {
			names[s.Value] = true
			return true
		})
	}
	for _, e := range tx.Scan(Data, matchPaused(tuple.AnyString)) {
		names[subjectOf(e.Tuple)] = true
	}
	for _, e := range tx.Scan(status.Space, status.MatchServing(tuple.AnyString, tuple.AnyString)) {
		names[status.DecodeServing(e.Tuple).Action] = true
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return !models.ValidID(name) })
	sorted := slices.Sorted(maps.Keys(names))
	var data []byte
	for _, name := range sorted[:min(len(sorted), MaxActions)] {
		data = tuple.New(name).Append(data)
	}
	return tuple.New(data, int64(len(sorted))), nil
}

// overview (action…) returns the ActionFacts of up to overviewed actions. It visits no task.
func overview(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	if len(args) > overviewed {
		return nil, fmt.Errorf("overview of %d actions: %w: want at most %d", len(args), fault.ErrInvalid, overviewed)
	}
	oldest := map[string]space.Entry{}
	names, ok := textsOf(args)
	if !ok {
		return nil, fmt.Errorf("overview: %w: want names of actions", fault.ErrInvalid)
	}
	for _, name := range names {
		oldest[name] = space.Entry{}
	}
	tx.Shares(Space, func(s space.Share) bool {
		if _, wanted := oldest[s.Value]; wanted {
			oldest[s.Value] = s.Oldest
		}
		return true
	})
	reply := tuple.Tuple{}
	for _, action := range names {
		f := ActionFacts{Action: action, Counts: countsOf(tx, action)}
		if e := oldest[action]; e.Ref != 0 {
			f.Oldest = decodeHeader(e.Tuple).ID
			if i, err := DecodeEntry(e); err == nil {
				f.OldestSince = i.inQueueSince()
			}
		}
		for _, s := range status.Servers(tx, action) {
			f.Workers++
			f.Slots += s.Slots
			f.InUse += min(s.Slots, int64(tx.Count(lease.Space, ClaimsOf(s.ID))))
		}
		reply = append(reply, f.encode())
	}
	return reply, nil
}

// countedStates are the states of a Counts in their order in the tuple of an ActionFacts.
var countedStates = []State{Waiting, StateDelayed, StateBlocked, StatePaused, Claimed, StateDead}

// countsOf counts the tasks of an action that are alive, by state, and its dead letters. It visits no task: it counts
// visible tasks by the template of their action, and all others by their labels.
func countsOf(tx space.Tx, action string) Counts {
	all := Counts{StateDead: int64(tx.Count(Dead, MatchDead(action, tuple.AnyString))), Waiting: int64(tx.Count(Space, AnyOf(action)))}
	for state, labels := range countedLabels {
		for _, label := range labels {
			all[state] += int64(tx.CountLabelled(Space, stateLabel(label, action)))
		}
	}
	return all
}

func (f ActionFacts) encode() tuple.Tuple {
	since := int64(0)
	if !f.OldestSince.IsZero() {
		since = f.OldestSince.UnixNano()
	}
	t := tuple.New(f.Action, f.Workers, f.Slots, f.InUse, f.Oldest, since)
	for _, state := range countedStates {
		t = append(t, f.Counts[state])
	}
	return t
}

// Overview returns the facts of the actions that have tasks, dead letters, a pause or a worker, and of more, by name:
// at most MaxActions. total is how many there are. Its cost grows with the number of actions and of sessions, not of
// tasks.
func (c Client) Overview(ctx context.Context, more ...string) (all []ActionFacts, total int, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procActions, nil)
	if err != nil {
		return nil, 0, err
	}
	names, total, err := decodeActions(reply)
	if err != nil {
		return nil, 0, err
	}
	names = append(names, more...)
	slices.Sort(names)
	names = slices.Compact(names)
	total = max(total, len(names))
	for some := range slices.Chunk(names[:min(len(names), MaxActions)], overviewed) {
		facts, err := c.Facts(ctx, some...)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, facts...)
	}
	return all, total, nil
}

// Facts returns the facts of up to 25 actions, in their order; more fail with fault.ErrInvalid.
func (c Client) Facts(ctx context.Context, actions ...string) ([]ActionFacts, error) {
	args := tuple.Tuple{}
	for _, name := range actions {
		args = append(args, name)
	}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procOverview, args)
	return decodeFacts(reply), err
}
