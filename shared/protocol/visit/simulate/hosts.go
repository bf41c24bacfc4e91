package simulate

import "sort"

// A host answers for some of the origins. It is down during outages, and refuses visits
// with a Retry-After during others.
type host struct {
	spans []span // in order

	onward bool // its visits go on to the first host

	visits int   // in the present tick
	asked  int32 // key of the origin that was refused last, and 1; 0: none was
	closed int64 // until when no origin of it is visited, because two of them were refused
}

// A span is a time during which a host answers no visit.
type span struct {
	from, to int64
	refuses  bool // with a Retry-After
}

// newHosts draws the hosts and their outages, which follow each other and do not overlap. Both
// are drawn from the exponential distribution: the time until the next, with Outages a day, and
// the length. The third number tells whether the host answers with Retry-After (span.refuses).
func (w *world) newHosts() []host {
	hosts := make([]host, int(w.Hosts))
	for i := range hosts {
		redirects := w.random(forHost, int64(i), 1)
		hosts[i].onward = i > 0 && redirects.uniform() < w.Redirects
		g := w.random(forHost, int64(i), 0)
		at := float64(start)
		for w.Outages > 0 {
			at += g.exponential() / w.Outages * day
			length := g.exponential() * w.OutageDays * day
			if at >= float64(w.end) {
				break
			}
			hosts[i].spans = append(hosts[i].spans, span{int64(at), int64(at + length), g.uniform() < w.RetryAfter})
			at += length
		}
	}
	return hosts
}

// outage returns the outage of a host at a time; ok is false if there is none.
func (h *host) outage(now int64) (s span, ok bool) {
	i := sort.Search(len(h.spans), func(i int) bool { return h.spans[i].to > now })
	if i < len(h.spans) && h.spans[i].from <= now {
		return h.spans[i], true
	}
	return span{}, false
}

// accept reports whether one more origin of a host may be visited in this tick, and counts its
// visit then. A visit that goes on to the first host takes a turn of that one too.
func (r *run) accept(key int64, now int64) bool {
	if len(r.hosts) == 0 {
		return true
	}
	h := &r.hosts[r.origins[key].host]
	to := &host{} // no limit
	if h.onward {
		to = &r.hosts[0]
	}
	most := r.HostVisits * tick / day
	if max(h.closed, to.closed) > now || float64(max(h.visits, to.visits)) >= most {
		return false
	}
	h.visits++
	to.visits++
	return true
}

// noteRefusal notes that a host answered the visit of an origin with a Retry-After. It closes the
// host if another origin was refused before; one origin alone concerns only itself, as in the
// store.
func (h *host) noteRefusal(key int, until int64) {
	if h.asked != 0 && h.asked != int32(key)+1 {
		h.closed = max(h.closed, until)
	}
	h.asked = int32(key) + 1
}
