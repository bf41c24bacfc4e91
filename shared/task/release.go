package task

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// release (id, token, reason): the caller cannot, another may.
func (p Policy) release(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, i, err := heldBy(tx, args.Str(0), args.Int64(1))
	if err != nil {
		return nil, err
	}
	return nil, p.giveBack(tx, e, i, brief(args.Str(2)))
}

// handBack (id, token): the caller stops in order; nothing is counted, and the
// task comes back at its old place.
func handBack(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, i, err := heldBy(tx, args.Str(0), args.Int64(1))
	if err != nil {
		return nil, err
	}
	return nil, undoClaim(tx, e, i)
}

func undoClaim(tx space.Tx, e space.Entry, i Item) error {
	i.State = "handed back by " + i.CurrentClaimant
	i, err := endAttempt(tx, i)
	if err != nil {
		return err
	}
	if err := rewrite(tx, e.Ref, i); err != nil {
		return err
	}
	return tx.Back(e.Ref, space.OldPlace)
}

// endAttempt takes the task from its holder: whatever he says from now on is late.
func endAttempt(tx space.Tx, i Item) (Item, error) {
	i.CurrentClaimant, i.ClaimedAt = "", time.Time{}
	stale := i.Token
	i.Token = tx.NextToken()
	if err := lease.Raise(tx, i.Lease, stale, i.Token); err != nil {
		return i, err
	}
	return i, hideClaim(tx, i.ID)
}

// giveBack ends an attempt that failed: it is counted, and the task waits for its
// back-off; or it is dead.
func (p Policy) giveBack(tx space.Tx, e space.Entry, i Item, reason string) error {
	worker := i.CurrentClaimant
	if !slices.Contains(i.Claimants, worker) {
		i.Claimants = newest(append(i.Claimants, worker), maxClaimants)
	}
	i.Attempts++
	i.History = newest(append(i.History, worker+": "+reason), maxHistory)
	i, err := endAttempt(tx, i)
	if err != nil {
		return err
	}
	if i.Attempts > p.MaxAttempts {
		return bury(tx, e, i, reason)
	}
	i.State = "waits after an attempt that failed: " + reason
	if unclaimable(tx, i) {
		i.State = allGaveBack
	}
	return p.backOff(tx, e.Ref, i)
}

// backOff keeps a task from everybody for a while; then it comes back behind its
// peers.
func (p Policy) backOff(tx space.Tx, ref int64, i Item) error {
	if err := tx.Hold(ref, space.HoldOptions{TTL: p.Backoff, Expiry: procReturn, NoSession: true}); err != nil {
		return err
	}
	return rewrite(tx, ref, i)
}

// newest returns the last n of s.
func newest(s []string, n int) []string { return s[max(0, len(s)-n):] }

// brief makes one short line of what a stranger says.
func brief(s string) string {
	if len(s) > maxReason {
		cut := maxReason
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
