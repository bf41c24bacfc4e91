package task

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// release (id, token, reason[, delay in seconds, output, whether to give up]) gives a task back because the caller
// cannot do it, but another worker may. With a delay, no worker gets it before; to give up means that no worker could
// do it, so that it is dead.
func (p Policy) release(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	f, err := parseFailure(args)
	if err != nil {
		return nil, err
	}
	e, i, err := findHeld(tx, f.id, f.token)
	if err != nil {
		return nil, err
	}
	f.kind = Released
	return nil, p.failAttempt(tx, e, i, f)
}

// failure is how an attempt failed.
type failure struct {
	id     string
	token  int64
	reason string
	delay  time.Duration
	output string
	giveUp bool
	kind   string // of Event.Outcome: Released, TimedOut or WorkerLost
}

var (
	releaseArgs     = tuple.Match(tuple.AnyString, tuple.AnyInt64, tuple.AnyString)
	fullReleaseArgs = append(releaseArgs, tuple.Formal{Type: tuple.Float64}, tuple.AnyString, tuple.AnyBool)
)

// MaxDelay bounds how far in the future a task may be claimed.
const MaxDelay = 10 * 365 * 24 * time.Hour

// delayOf returns a delay that a client sent, from 0 to MaxDelay. The comparison is negated, because NaN must not
// pass.
func delayOf(seconds float64) (time.Duration, error) {
	if !(seconds >= 0 && seconds <= MaxDelay.Seconds()) {
		return 0, fmt.Errorf("delay %v: %w: want 0 to %v seconds", models.Seconds(seconds), fault.ErrInvalid, models.SecondsOf(MaxDelay))
	}
	return models.Seconds(seconds).Duration(), nil
}

// handBack (id, token[, delay in seconds[, reason]]) gives a task back because the caller stops, or because it cannot
// be done yet. It counts no attempt, and without a delay the task returns to its old place. With a reason it is passOn.
func (p Policy) handBack(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	short := tuple.Match(tuple.AnyString, tuple.AnyInt64)
	full := append(short, tuple.Formal{Type: tuple.Float64})
	if withReason := append(full[:3:3], tuple.AnyString); !short.Matches(args) && !full.Matches(args) && !withReason.Matches(args) {
		return nil, fmt.Errorf("%w: the arguments must be %s, %s or %s", fault.ErrInvalid, short, full, withReason)
	}
	id, token, seconds, reason := handBackOf(args)
	e, i, err := findHeld(tx, id, token)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return p.passOn(tx, e, i, reason)
	}
	delay, err := delayOf(seconds)
	if err != nil {
		return nil, err
	}
	if delay > 0 {
		i.RetryAt = tx.Now().Add(delay)
	}
	return nil, p.undoClaim(tx, e, i)
}

// undoClaim returns a claimed task without counting an attempt: to its old place, or into a delay if RetryAt is set.
// The holder's token is stale then, and its slots are offered to others.
func (p Policy) undoClaim(tx space.Tx, e space.Entry, i Item) error {
	i.State = "handed back by " + i.CurrentClaimant
	i, err := revokeAttempt(tx, i)
	if err != nil {
		return err
	}
	if err := p.place(tx, e, i, space.OldPlace); err != nil {
		return err
	}
	return p.freeSlots(tx, i.Limits)
}

// revokeAttempt raises the token of a task and of its lease, so that later calls of the previous holder fail with
// fault.ErrStaleToken, and removes the claim.
func revokeAttempt(tx space.Tx, i Item) (Item, error) {
	i.CurrentClaimant, i.ClaimedAt, i.Progress, i.backAt = "", time.Time{}, nil, tx.Now()
	stale := i.Token
	i.Token = tx.NextToken()
	if err := lease.Raise(tx, i.Lease, stale, i.Token); err != nil {
		return i, err
	}
	return i, removeClaim(tx, i.ID)
}

// failAttempt counts a failed attempt. If f has no delay and the task no back-off of its own, the task is offered at
// once to another worker, if one serves the action and has not given the task back: to one on another machine, if
// there is one. Otherwise it waits for the longer of the delay and its back-off, or for the policy's if both are 0.
// If it has no attempts left, or f gives up, it becomes a dead letter (die).
func (p Policy) failAttempt(tx space.Tx, e space.Entry, i Item, f failure) error {
	i = addClaimant(tx, i, e.Holder)
	i.Attempts++
	i, err := p.recordAttempt(tx, e, i, f)
	if err != nil {
		return err
	}
	if f.giveUp || i.Attempts > p.attempts(i) {
		i.DiedAt = i.History[len(i.History)-1].EndedAt
		return p.die(tx, e, i, f.reason)
	}
	i.State = "waits after an attempt that failed: " + f.reason
	if err := p.retryLater(tx, e, i, max(f.delay, i.Backoff.Duration())); err != nil {
		return err
	}
	return p.freeSlots(tx, i.Limits)
}

// recordAttempt adds an attempt to the history of a task, restarts its queue TTL, and calls revokeAttempt.
//
// The queue TTL restarts, because it bounds how long a task waits, not how long a worker works
// on it. Otherwise a task whose attempts take longer than its queue TTL would be dropped after
// the first, be issued again without attempts, and never become a dead letter.
func (p Policy) recordAttempt(tx space.Tx, e space.Entry, i Item, f failure) (Item, error) {
	tx.Note(Event{Kind: EventFailed, Action: i.Action, Outcome: f.kind, Took: since(tx.Now(), i.ClaimedAt)})
	i.History = newest(append(i.History, models.Attempt{
		Worker: i.CurrentClaimant, ClaimedAt: i.ClaimedAt, EndedAt: tx.Now(), Error: f.reason, Output: f.output,
	}), maxHistory)
	if i.QueueTTL > 0 {
		if err := tx.Extend(e.Ref, i.QueueTTL.Duration()); err != nil {
			return i, err
		}
	}
	return revokeAttempt(tx, i)
}

// retryLater places a task after an attempt that failed. A delay of 0 means at once, if a worker is left that has not
// given the task back, and otherwise after the back-off of the policy.
func (p Policy) retryLater(tx space.Tx, e space.Entry, i Item, delay time.Duration) error {
	if delay == 0 {
		if len(willingWorkers(tx, i)) > 0 {
			return p.place(tx, e, i, space.OldPlace)
		}
		if len(status.Servers(tx, i.Action)) > 0 {
			i.State = allGaveBack
		}
		delay = p.Backoff
	}
	return p.backOff(tx, e, i, delay)
}

// backOff hides a task from all workers for a while. Then it returns to the end of its group.
func (p Policy) backOff(tx space.Tx, e space.Entry, i Item, delay time.Duration) error {
	i.RetryAt = tx.Now().Add(delay)
	return hideFor(tx, e, i, BackOff, "", delay)
}

// newest returns the last n of s.
func newest[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }

// truncate makes an untrusted reason one line of valid UTF-8 of at most maxReason
// bytes and an ellipsis.
func truncate(s string) string {
	if len(s) > maxReason {
		s = beginning(s, maxReason) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// beginning returns at most the first n bytes of s. It cuts no rune of valid UTF-8.
func beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end := n
	for end > n-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// tail returns the end of the output of an attempt: valid UTF-8 of at most maxOutput bytes.
func tail(s string) string {
	if len(s) > maxOutput {
		s = s[len(s)-maxOutput:]
		for s != "" && !utf8.RuneStart(s[0]) {
			s = s[1:]
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "?"), "?")
}
