package visits

import (
	"math"

	"leasehold/shared/protocol/visit/policy"
)

// refusal is what origins of one host have answered with a Retry-After. One of them alone
// concerns only itself, because it may be that origin which is asked too often.
type refusal struct {
	origin    int64 // key of the first one
	until     int64 // of the origins
	hostUntil int64 // until when no origin of the host is visited, because a second one asked for it; 0: none did
}

// noteRefusal notes that an origin asked to be left alone until NotBefore (Retry-After). A second
// origin of the host that asks too closes the whole host until then. A NotBefore that has passed,
// and an origin without a host, change nothing. The end is kept with the origin in the file; so a
// restart finds it again.
func (k *cache) noteRefusal(r row, now int64) {
	if r.host == "" || r.NotBefore <= now {
		return
	}
	was := k.refusals[r.host]
	if was.until <= now {
		was = refusal{origin: r.Key}
	}
	was.until = max(was.until, r.NotBefore)
	if was.origin != r.Key {
		was.hostUntil = max(was.hostUntil, r.NotBefore)
	}
	k.refusals[r.host] = was
}

// hosts refuses what would be impolite in one pick.
type hosts struct {
	store *Store
	now   int64          // milliseconds
	most  int            // of one host in this batch
	batch map[string]int // picked, by host

	deferred int64 // candidates that were passed over
	wake     int64 // milliseconds: when the first of the busy hosts may be visited; 0: none is waited for
	paced    bool  // a host is left alone only for the gap between two visits
}

// hostsFor returns the hosts for a pick of n. Before, it forgets the waits that are over, and
// gaps that are longer than any, because the clock was set back. It changes only what the file
// does not have, so it does not call update. now, in milliseconds, may be a little older than the
// last outcome, by less than a minute.
func (s *Store) hostsFor(now int64, n int) *hosts {
	for host, r := range s.cache.refusals {
		if max(r.until, r.hostUntil)*1000 <= now {
			delete(s.cache.refusals, host)
		}
	}
	const older = 60_000 // by how much now may be too old
	longest := max(s.rules.HostGap, s.rules.LongestGap).Milliseconds()
	for host, gapEnd := range s.cache.gapEnds {
		if gapEnd <= now || gapEnd > now+longest+older {
			delete(s.cache.gapEnds, host)
		}
	}
	return &hosts{store: s, now: now, most: max(1, int(math.Ceil(s.rules.HostShare*float64(n)))), batch: map[string]int{}}
}

// A wait is why no origin of a host may be visited now; the zero wait: one may.
type wait struct {
	why   string
	until int64 // milliseconds; 0: until a visit of the host ends, or the next batch
}

// The reasons of a wait beside those of package visit.
const (
	refusedHost = policy.RetryAfter + " of its host"
	busyHost    = "its host is being visited"
	gapOfHost   = "gap after the last visit of its host"
)

// waitOf returns how long a host must still be left alone, by the first of these that applies: a
// Retry-After, a rest because it cannot be reached, a share of the batch, a number of visits at a
// time, and the gap after the last visit. A host with a Crawl-delay gets one visit at a time,
// because the delay counts from its end. A rest longer than longestWait is not believed: the
// clock was set back.
func (h *hosts) waitOf(host string) wait {
	k := &h.store.cache
	gap, crawlDelay := h.store.gap(host)
	slots := h.store.rules.HostSlots
	if crawlDelay {
		slots = 1
	}
	switch {
	case k.refusals[host].hostUntil*1000 > h.now:
		return wait{refusedHost, k.refusals[host].hostUntil * 1000}
	case k.hosts[host].until*1000 > h.now && k.hosts[host].until*1000 <= h.now+longestWait*1000:
		return wait{policy.Unreachable, k.hosts[host].until * 1000}
	case h.batch[host] >= h.most, h.batch[host]+k.flights[host] >= slots:
		return wait{busyHost, 0}
	case k.gapEnds[host] > h.now:
		return wait{gapOfHost, k.gapEnds[host]}
	case gap > 0 && h.batch[host] > 0:
		return wait{gapOfHost, h.now + gap}
	}
	return wait{}
}

// checkFree reports whether an origin of a host may be visited now. If not, it counts the origin as
// deferred and notes when the host may be visited (wake) and whether only its gap delays it
// (paced).
func (h *hosts) checkFree(host string) bool {
	if host == "" {
		return true
	}
	w := h.waitOf(host)
	if w.why == "" {
		return true
	}
	if w.until > 0 && (h.wake == 0 || w.until < h.wake) {
		h.wake = w.until
	}
	h.paced = h.paced || w.why == gapOfHost
	h.deferred++
	return false
}

// accept reports whether a candidate may be visited now, and counts its visit in the batch then.
func (h *hosts) accept(c policy.Candidate) bool {
	if !h.checkFree(c.Host) {
		return false
	}
	if c.Host != "" {
		h.batch[c.Host]++
	}
	return true
}
