package visits

import (
	"context"
	"math/rand/v2"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// host is what visits showed about a host. Only hosts that differ from the zero host are kept.
type host struct {
	failures     int   // visits in a row without a connection; at most one counts in each rest
	since, until int64 // when the first of them was; the end of the rest after them
	gap          int64 // Crawl-delay in milliseconds; 0: none
}

// longestCrawlDelay bounds what is kept of a Crawl-delay, in milliseconds. The rule
// LongestGap bounds what has an effect.
const longestCrawlDelay = 24 * 3600 * 1000

// The rest of a host that cannot be reached: the first, which doubles with each failure
// after a rest, and the longest. They are up to a tenth longer, so that hosts with a
// common fault do not all come back at once.
const (
	firstHostRest   = 10 * 60
	longestHostRest = 7 * 24 * 3600
)

// longestWait is the longest time in seconds for which a host is left alone.
const longestWait = longestHostRest * 11 / 10

func (k *cache) loadHosts(c *sqldb.Conn) error {
	return c.All("SELECT name, failures, since, until, gap FROM host", nil, func(from sqldb.Row) error {
		var name string
		var h host
		err := from.Scan(&name, &h.failures, &h.since, &h.until, &h.gap)
		k.hosts[name] = h
		return err
	})
}

// sumGaps fills gaps from the hosts. The gap of a group is the longest of its hosts.
func (k *cache) sumGaps(groups policy.HostGroups) {
	k.gaps = map[string]int64{}
	for name, h := range k.hosts {
		if h.gap > 0 {
			k.gaps[groups.Of(name)] = max(k.gaps[groups.Of(name)], h.gap)
		}
	}
}

// noteCrawlDelay keeps the Crawl-delay of an origin's host, at most longestCrawlDelay; 0 removes it. An origin
// without a host has none.
func (s *Store) noteCrawlDelay(r row, delay models.Seconds) error {
	name := r.hostName()
	h := s.cache.hosts[name]
	gap := int64(min(max(float64(delay)*1000, 0), longestCrawlDelay)) // milliseconds
	if name == "" || h.gap == gap {
		return nil
	}
	h.gap = gap
	if err := s.keepHost(name, h); err != nil {
		return err
	}
	s.update().sumGaps(s.policy.Hosts)
	return nil
}

// gap returns the milliseconds between the end of a visit and the next one of a host or a
// group, and whether a Crawl-delay asks for them.
func (s *Store) gap(name string) (milliseconds int64, crawlDelay bool) {
	least, asked := s.rules.HostGap.Milliseconds(), min(s.cache.gaps[name], s.rules.LongestGap.Milliseconds())
	return max(least, asked), asked > 0
}

// keepHost writes the record of a host to the file and the cache if it has changed, and removes a zero one. After
// an error the transaction fails, and the cache is loaded again.
func (s *Store) keepHost(name string, h host) error {
	if s.cache.hosts[name] == h {
		return nil
	}
	if h == (host{}) {
		delete(s.update().hosts, name)
		return s.db.Exec("DELETE FROM host WHERE name = ?", name)
	}
	s.update().hosts[name] = h
	return s.db.Exec(`INSERT INTO host (name, failures, since, until, gap) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE
		SET failures = excluded.failures, since = excluded.since, until = excluded.until, gap = excluded.gap`, name, h.failures, h.since, h.until, h.gap)
}

// explainPace returns what users see of how a host is visited: its group, if it is in one, and
// the gap if a Crawl-delay asks for it; both are empty otherwise.
func (s *Store) explainPace(name string) (group string, gap time.Duration) {
	if milliseconds, crawlDelay := s.gap(name); crawlDelay {
		gap = time.Duration(milliseconds) * time.Millisecond
	}
	return policy.HostGroupName(name), gap
}

// noteHostFailure notes that a visit could not connect to a host, and reports whether the fault is still the
// host's. After Rules.DisableSpan it counts for the origins too, so that the origins of a vanished host are
// disabled. Failures within the rest after an earlier one do not lengthen it, because these visits were already
// under way. A rest longer than the maximum, or a first failure in the future, is replaced, because the clock was
// set back.
func (s *Store) noteHostFailure(name string, now int64) (ofHost bool, err error) {
	h := s.cache.hosts[name]
	if h.failures == 0 || h.since > now {
		h.since = now
	}
	if h.until <= now || h.until > now+longestWait {
		rest := min(int64(firstHostRest)<<min(h.failures, 20), longestHostRest)
		h.until = now + rest + rand.Int64N(rest/10) // at random, so that not all hosts of an outage are tried at once
		h.failures++
	}
	return now-h.since < int64(s.rules.DisableSpan.Seconds()), s.keepHost(name, h)
}

// noteHostAnswer notes that a host was reached, which ends its rest; its Crawl-delay stays.
func (s *Store) noteHostAnswer(name string) error {
	h := s.cache.hosts[name]
	h.failures, h.since, h.until = 0, 0, 0
	return s.keepHost(name, h)
}

// ForceNow has an origin visited as SaveNow does, with an unconditional request, and lifts what would delay that: the
// Retry-After of all origins of its host or host group, the rest of a host that could not be reached, and the hours of
// the origin. It takes several transactions; after an error it can be repeated. An unknown origin gives
// fault.ErrNotFound.
func (s *Store) ForceNow(ctx context.Context, now time.Time, id string) error {
	op := "force " + id
	var name string
	err := s.write(ctx, op, func() error {
		r, err := read(s.db, id)
		if err != nil || r.host == "" {
			return err
		}
		name = r.host // or its group
		delete(s.update().refusals, name)
		return s.noteHostAnswer(name)
	})
	if err != nil {
		return err
	}
	keys, err := s.keys(ctx, op, "SELECT key FROM schedule WHERE host = ? AND host <> '' AND not_before > ?", name, now.Unix())
	if err != nil {
		return err
	}
	lift := func(r *row) { r.NotBefore = policy.Never }
	err = stepThrough(ctx, s, op, keys, func(key int64) error {
		return s.editKey(key, now.Unix(), func(r *row) error { lift(r); return nil })
	})
	if err != nil {
		return err
	}
	return s.alter(ctx, op, now, id, func(r *row) {
		lift(r)
		r.LastRead = policy.Never // so that the request is unconditional
		r.request(now)
		r.forced = true
	})
}
