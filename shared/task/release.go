package task

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// release (id, token, reason) gives a task back because the caller cannot do it, but
// another worker may.
func (p Policy) release(tx space.Tx, id string, token int64, reason string) (tuple.Tuple, error) {
	e, i, err := findHeld(tx, id, token)
	if err != nil {
		return nil, err
	}
	return nil, p.failAttempt(tx, e, i, truncate(reason))
}

// handBack (id, token) gives a task back because the caller stops. It counts no
// attempt, and the task returns to its old place.
func handBack(tx space.Tx, id string, token int64) (tuple.Tuple, error) {
	e, i, err := findHeld(tx, id, token)
	if err != nil {
		return nil, err
	}
	return nil, undoClaim(tx, e, i)
}

func undoClaim(tx space.Tx, e space.Entry, i Item) error {
	i.State = "handed back by " + i.CurrentClaimant
	i, err := revokeAttempt(tx, i)
	if err != nil {
		return err
	}
	if err := rewrite(tx, e.Ref, i); err != nil {
		return err
	}
	return tx.Back(e.Ref, space.OldPlace)
}

// revokeAttempt raises the token of a task and of its lease, so that later calls of
// the previous holder fail with fault.ErrStaleToken, and removes the claim.
func revokeAttempt(tx space.Tx, i Item) (Item, error) {
	i.CurrentClaimant, i.ClaimedAt = "", time.Time{}
	stale := i.Token
	i.Token = tx.NextToken()
	if err := lease.Raise(tx, i.Lease, stale, i.Token); err != nil {
		return i, err
	}
	return i, removeClaim(tx, i.ID)
}

// failAttempt counts a failed attempt. The task is offered at once to another worker if
// one serves the action and has not given the task back. If there is none, it waits for
// its back-off. If it has no attempts left, it becomes a dead letter.
func (p Policy) failAttempt(tx space.Tx, e space.Entry, i Item, reason string) error {
	worker := i.CurrentClaimant
	if !slices.Contains(i.Claimants, worker) {
		i.Claimants = newest(append(i.Claimants, worker), maxClaimants)
	}
	i.Attempts++
	i.History = newest(append(i.History, worker+": "+reason), maxHistory)
	i, err := revokeAttempt(tx, i)
	if err != nil {
		return err
	}
	if i.Attempts > p.MaxAttempts {
		return p.die(tx, e, i, reason)
	}
	i.State = "waits after an attempt that failed: " + reason
	servers := status.Servers(tx, i.Action)
	if slices.ContainsFunc(servers, func(s status.Serving) bool { return !slices.Contains(i.Claimants, s.ID) }) {
		if err := rewrite(tx, e.Ref, i); err != nil {
			return err
		}
		return tx.Back(e.Ref, space.OldPlace)
	}
	if len(servers) > 0 {
		i.State = allGaveBack
	}
	return p.backOff(tx, e.Ref, i)
}

// backOff hides a task from all workers for the back-off. Then it returns to the end
// of its priority.
func (p Policy) backOff(tx space.Tx, ref int64, i Item) error {
	if err := tx.Hold(ref, space.HoldOptions{TTL: p.Backoff, Expiry: procReturn, NoSession: true}); err != nil {
		return err
	}
	return rewrite(tx, ref, i)
}

// newest returns the last n of s.
func newest(s []string, n int) []string { return s[max(0, len(s)-n):] }

// truncate makes an untrusted reason one line of valid UTF-8 of at most maxReason
// bytes and an ellipsis.
func truncate(s string) string {
	if len(s) > maxReason {
		end := maxReason
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
