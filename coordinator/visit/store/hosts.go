package store

import (
	"math"

	"leasehold/coordinator/visit"
)

// hosts refuses what would be impolite in one pick.
type hosts struct {
	s       *Store
	now     int64
	most    int            // of one host in this batch
	batch   map[string]int // picked, by host
	refused map[int64]int64
}

func (s *Store) politeness(now int64, n int) *hosts {
	for host, until := range s.cache.retryAfter {
		if until <= now {
			delete(s.cache.retryAfter, host)
		}
	}
	gap := int64(math.Ceil(s.rules.HostGap.Seconds()))
	for host, at := range s.cache.last {
		if at+gap <= now || at > now {
			delete(s.cache.last, host)
		}
	}
	return &hosts{
		s: s, now: now, most: max(1, int(math.Ceil(s.rules.HostShare*float64(n)))),
		batch: map[string]int{}, refused: map[int64]int64{},
	}
}

// accept implements the politeness of a pick: at most a share of the batch, at most
// so many visits at a time, a gap between two, and Retry-After.
func (h *hosts) accept(c visit.Candidate) bool {
	if c.Host == "" {
		return true
	}
	m := h.s.update()
	gap := int64(math.Ceil(h.s.rules.HostGap.Seconds()))
	var until int64
	switch {
	case m.retryAfter[c.Host] > h.now:
		until = m.retryAfter[c.Host]
	case gap > 0 && (h.batch[c.Host] > 0 || m.last[c.Host] > 0):
		until = h.now + gap
	case h.batch[c.Host] >= h.most:
		return false // only of this batch: it need not wait
	case h.batch[c.Host]+m.flights[c.Host] >= h.s.rules.HostSlots:
		until = h.now + max(gap, 1)
	default:
		h.batch[c.Host]++
		return true
	}
	h.refused[c.Key] = until
	m.facts.Deferred++
	return false
}
