package visits

import (
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// countChanges returns how many changes an outcome knows of, and in how many days (span). Both are 0 if it does
// not know, so that policies compare digests. Changes are counted since the last success, or at the first one since
// the outcome knows all (countFirst). Nothing has changed if the digest is the same, even if all items have new
// dates. Dates may miss a change (an item dated back, a commit pushed late); so another digest is at least one.
func countChanges(s policy.State, o models.Outcome, digest string) (changes, span float64) {
	from := s.LastSuccess
	if from == policy.Never {
		return countFirst(s, o)
	}
	span = float64(o.At.Unix()-from) / 86400
	switch {
	case len(o.ChangedAt) == 0 && o.Changes <= 0:
		return 0, 0
	case digest == s.LastDigest && len(o.ChangedAt) > 0:
		return 0, span
	case digest != s.LastDigest && len(o.ChangedAt) > 0:
		changes = 1
	}
	return max(changes, changesSince(o, from), float64(o.Changes)), span
}

// countFirst counts the changes of a first success, from Outcome.Since to the visit. If the origin was created
// after that, the span begins then, or with a change that is even older.
func countFirst(s policy.State, o models.Outcome) (changes, span float64) {
	if o.Since.IsZero() || len(o.ChangedAt) == 0 {
		return 0, 0
	}
	from := o.Since.Unix()
	if s.Created != policy.Never && s.Created > from {
		oldest := s.Created
		for _, t := range o.ChangedAt {
			if t.Unix() > from {
				oldest = min(oldest, t.Unix()-1)
			}
		}
		from = oldest
	}
	return max(changesSince(o, from), float64(o.Changes)), float64(o.At.Unix()-from) / 86400
}

// changesSince returns how many of the changes that an outcome dates came after a time, up to the visit.
func changesSince(o models.Outcome, from int64) (n float64) {
	for _, t := range o.ChangedAt {
		if t.Unix() > from && !t.After(o.At) {
			n++
		}
	}
	return n
}

// isOpen reports whether a visit saw back to the oldest date of e and no further (policy.Event.Open): the first one
// of an origin that does not tell since when it knows all changes, and one whose document has no item that was
// known before. The dates decide only if the outcome does not tell how many items are new, because a feed may date
// all its items anew.
func isOpen(s policy.State, o models.Outcome, e policy.Event) bool {
	switch {
	case len(e.Times) == 0:
		return false
	case s.LastSuccess == policy.Never:
		return o.Since.IsZero() && len(o.ChangedAt) > 1
	case o.Window <= 0 || e.Digest == s.LastDigest:
		return false
	case o.New != nil:
		return *o.New > 0 && *o.New >= o.Items
	}
	newest := s.Recent.Newest()
	return newest != policy.Never && e.Times[0] > newest
}
