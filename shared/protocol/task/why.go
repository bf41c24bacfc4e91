package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Why is the reason why a live task is not running.
type Why struct {
	Code string // one of the constants below; empty: it is claimed
	Text string // for people
}

// The codes of Why, in the order in which they are looked for.
const (
	WhyParent     = "waits_for_task"
	WhyUniqueKey  = "unique_key"
	WhyNotDue     = "not_due"
	WhyBackOff    = "back_off"
	WhyPaused     = "paused"
	WhyLimit      = "limit"
	WhyNoWorker   = "no_worker"
	WhyAllGave    = "every_worker_gave_it_back"
	WhyAlone      = "waits_for_idle_worker"
	WhyBusy       = "no_free_slot"
	WhyBehind     = "behind_others"
	WhyNextInLine = "next"
)

// Facts are what the reason depends on, beside the task.
type Facts struct {
	Paused  string   // since when its action is paused; empty: it is not
	Holders []string // tasks that have the slots of the limit that it waits for, if none is free; some of them
	Rate    bool     // the rate of that limit permits no claim now
	For     string   // of a suspect: the live worker that is reserved for it; empty: none is
	Servers []Server // live workers that serve its action
	Ahead   int      // tasks of its action that come before it, at most maxAhead; notCounted: some
}

// Server is a live worker that serves an action.
type Server struct {
	Name    string
	Slots   int64
	Running int64 // tasks that it has, of all actions, because these share its slots
}

const (
	maxAhead   = 1000 // bounds the tasks that are counted before a task
	notCounted = -1
)

// Explain returns why a task is not running. It is a function of its arguments only.
func Explain(i Item, f Facts) Why {
	if i.CurrentClaimant != "" {
		return Why{}
	}
	switch i.Hidden {
	case Blocked:
		if len(i.Pending) == 0 {
			return Why{WhyUniqueKey, fmt.Sprintf("task %s is running with the same unique key %q", i.HiddenBy, i.UniqueKey)}
		}
		text := "waits for task " + i.Pending[0]
		if more := len(i.Pending) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return Why{WhyParent, text}
	case Delayed:
		return Why{WhyNotDue, "not due until " + i.NotBefore.UTC().Format(time.RFC3339)}
	case BackOff:
		text := "in back-off until " + i.RetryAt.UTC().Format(time.RFC3339)
		if n := len(i.History); n > 0 {
			text += fmt.Sprintf(", because attempt %d failed: %s", i.Attempts, i.History[n-1].Error)
		}
		return Why{WhyBackOff, text}
	case Limited:
		switch {
		case len(f.Holders) > 0:
			return Why{WhyLimit, fmt.Sprintf("limit %s is reached by %s", i.HiddenBy, strings.Join(f.Holders, ", "))}
		case f.Rate:
			return Why{WhyLimit, "the rate of limit " + i.HiddenBy + " is reached"}
		}
		return Why{WhyLimit, "the free slots of limit " + i.HiddenBy + " are offered to other tasks"}
	}
	if f.Paused != "" || i.Hidden == Paused {
		return Why{WhyPaused, fmt.Sprintf("action %s is paused since %s", i.Action, f.Paused)}
	}
	return explainWaiting(i, f)
}

// explainWaiting is Explain for a task that workers may claim.
func explainWaiting(i Item, f Facts) Why {
	var willing []Server // workers that have not given the task back
	var slots int64
	hasFreeSlot, hasIdle := false, false
	for _, s := range f.Servers {
		if !slices.Contains(i.Excluded(), s.Name) {
			willing = append(willing, s)
			slots += s.Slots
			hasFreeSlot = hasFreeSlot || s.Running < s.Slots
			hasIdle = hasIdle || s.Running == 0
		}
	}
	switch {
	case len(f.Servers) == 0:
		return Why{WhyNoWorker, "no live worker serves the action " + i.Action}
	case len(willing) == 0:
		return Why{WhyAllGave, everyWorker(f.Servers) + " gave it back"}
	case i.suspect() && !hasIdle:
		return Why{WhyAlone, alone(i, f.For)}
	case !hasFreeSlot:
		return Why{WhyBusy, fmt.Sprintf("all slots (%d) of %s are in use", slots, theWorkers(willing))}
	case f.Ahead == notCounted:
		return Why{WhyBehind, "behind others of its action"}
	case f.Ahead >= maxAhead:
		return Why{WhyBehind, fmt.Sprintf("behind at least %d tasks of its action", maxAhead)}
	case f.Ahead == 1:
		return Why{WhyBehind, "behind 1 task of its action"}
	case f.Ahead > 0:
		return Why{WhyBehind, fmt.Sprintf("behind %d tasks of its action", f.Ahead)}
	}
	return Why{WhyNextInLine, "it is the next one of its action"}
}

// alone tells why a suspect waits; reserved is the worker that is reserved for it, or empty.
func alone(i Item, reserved string) string {
	text := fmt.Sprintf("its worker was lost %d times, so it waits for a worker that does nothing else", i.Lost)
	if reserved != "" {
		text += "; " + reserved + " is reserved for it and finishes its other tasks"
	}
	return text
}

// theWorkers names one or more live workers.
func theWorkers(all []Server) string {
	if len(all) == 1 {
		return "the live worker " + all[0].Name
	}
	return fmt.Sprintf("the %d live workers", len(all))
}

// everyWorker is theWorkers as the subject of a sentence.
func everyWorker(all []Server) string {
	if len(all) == 1 {
		return "the only live worker, " + all[0].Name + ","
	}
	return fmt.Sprintf("each of the %d live workers", len(all))
}

// factsOf reads what Explain needs for the task of an entry. It counts at most maxAhead tasks
// before it.
func factsOf(tx space.Tx, e space.Entry, i Item) Facts {
	f := factsOfAction(tx, i.Action)
	f.setLimit(tx, i)
	f.setReserved(tx, i)
	tx.Walk(space.Walk{Space: Space, Template: AnyOf(i.Action)}, func(other space.Entry) bool {
		if other.Ref == e.Ref || f.Ahead == maxAhead {
			return false
		}
		f.Ahead++
		return true
	})
	return f
}

// setReserved sets For.
func (f *Facts) setReserved(tx space.Tx, i Item) {
	if i.onlyFor != "" && serves(tx, i.onlyFor, i.Action) {
		f.For = nameOf(tx, i.onlyFor)
	}
}

// setLimit sets Holders and Rate for a task that waits for a limit. It names holders only if they
// have all slots, because otherwise the rate is the reason, or other tasks are offered the free slot.
func (f *Facts) setLimit(tx space.Tx, i Item) {
	if i.Hidden != Limited {
		return
	}
	_, l, _ := findLimit(tx, i.HiddenBy) // without such a limit, its maximum and its rate are 0
	f.Rate = l.wait(tx.Elapsed()) > 0
	if slot := slotLabel(l.Name); l.Max > 0 && int64(tx.CountLabelled(Space, slot)) >= l.Max {
		for _, h := range withLabel(tx, Space, slot, 10) {
			f.Holders = append(f.Holders, decodeHeader(h.Tuple).ID)
		}
	}
}

// explainer explains the tasks of a list. What it reads of an action it reads once, and it
// does not count the tasks that come before one.
type explainer struct {
	tx      space.Tx
	actions map[string]actionFacts
}

// actionFacts are the facts of an action, and its first task that may be claimed.
type actionFacts struct {
	Facts
	first int64
}

func newExplainer(tx space.Tx) explainer { return explainer{tx, map[string]actionFacts{}} }

// listed returns why a task of a list is not running; an empty Why for a claimed or malformed one, and for a dead
// letter.
func (x explainer) listed(e space.Entry, l Listed) Why {
	if l.Dead || l.Err != nil {
		return Why{}
	}
	known, ok := x.actions[l.Action]
	if !ok {
		known.Facts = factsOfAction(x.tx, l.Action)
		first, _ := x.tx.Find(Space, AnyOf(l.Action), nil)
		known.first = first.Ref
		x.actions[l.Action] = known
	}
	f := known.Facts
	f.setLimit(x.tx, l.Item)
	f.setReserved(x.tx, l.Item)
	if e.Ref != known.first {
		f.Ahead = notCounted
	}
	return Explain(l.Item, f)
}

// factsOfAction reads the facts that all tasks of an action share.
func factsOfAction(tx space.Tx, action string) (f Facts) {
	if p, paused := tx.Find(Data, matchPaused(action), nil); paused {
		f.Paused = decodePaused(p.Tuple).Since.UTC().Format(time.RFC3339)
	}
	for _, s := range status.Servers(tx, action) {
		f.Servers = append(f.Servers, Server{nameOf(tx, s.ID), s.Slots, int64(tx.Count(lease.Space, ClaimsOf(s.ID)))})
	}
	return f
}

// showTask (id) returns (holder, record, tuple, code, text) of a live task, or of a dead letter without holder, code
// and text; both may be malformed.
func showTask(tx space.Tx, id string) (tuple.Tuple, error) {
	e, i, err := find(tx, id)
	if e.Ref == 0 {
		dead, _, notDead := findDead(tx, id)
		if dead.Ref == 0 {
			return nil, notDead
		}
		return tuple.New("", dead.Fields, dead.Tuple, "", ""), nil
	}
	why := Why{Code: "malformed", Text: fmt.Sprint(err)}
	if err == nil {
		why = Explain(i, factsOf(tx, e, i))
	}
	return tuple.New(e.Holder, e.Fields, e.Tuple, why.Code, truncate(why.Text)), nil
}

// Shown is a task, with the reason why it is not running if it is alive.
type Shown struct{ Listed }

// Show returns a live task, a dead letter, or an ended task whose end is kept, with its result. It fails with
// fault.ErrNotFound if there is none, and with fault.ErrCorrupt if the record of the end is damaged. A malformed task
// or dead letter has its error in Listed.Err.
func (c Client) Show(ctx context.Context, id string) (Shown, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procShow, tuple.New(id))
	if err == nil {
		return decodeShown(reply), nil
	}
	if !errors.Is(err, fault.ErrNotFound) {
		return Shown{}, err
	}
	if reply, err = c.Repo.Call(ctx, space.OpID{}, procEnded, tuple.New(id)); err != nil {
		return Shown{}, err
	}
	l, err := decodeEnd(string(blobOf(reply)))
	return Shown{l.Listed}, err
}
