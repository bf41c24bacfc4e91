package visits

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// Trouble is the hosts that rest, the origins that are disabled after visits that failed, and whether a manager could
// visit an origin now.
type Trouble struct {
	Due      bool
	Hosts    []HostRest
	Resting  int // hosts; more than Hosts if there are many
	Disabled []Disabled
}

// HostRest is a host that is not visited for a while, because it could not be reached or asked for that.
type HostRest struct {
	Host         string
	Since, Until time.Time // Since is zero if the host asked for the rest
	Failures     int       // visits in a row that could not connect; 0: it asked for the rest
	Origins      int       // of the host, that wait
	Overflows    int64     // visits of these that found that items were probably lost unseen
	Example      string    // id of one origin; empty: none is left
}

// Disabled is the origins that are not visited any more for one reason: failures, or gone.
type Disabled struct {
	Reason  string
	Origins int
	ID, URI string // of one of them
}

// maxRests is how many hosts Trouble lists.
const maxRests = 20

// Trouble returns what a person may have to look at. Its cost grows with the number of hosts that rest, with their
// origins, and with the origins that rest themselves. It reads in a write transaction, because only that may read the cache.
func (s *Store) Trouble(ctx context.Context, now time.Time) (t Trouble, err error) {
	err = s.write(ctx, "trouble of visits", func() error {
		t.Hosts = s.restingHosts(now.Unix())
		t.Resting = len(t.Hosts)
		t.Hosts = t.Hosts[:min(len(t.Hosts), maxRests)]
		for n := range t.Hosts {
			if err := s.countWaiting(&t.Hosts[n]); err != nil {
				return err
			}
		}
		for _, reason := range []policy.Reason{policy.ByFailures, policy.ByGone} {
			d := Disabled{Reason: string(reason), Origins: s.cache.disabled[reason]}
			if d.Origins == 0 {
				continue
			}
			if _, err := s.db.One("SELECT id, uri FROM schedule WHERE disabled = ? LIMIT 1", []any{string(reason)}, sqldb.Into(&d.ID, &d.URI)); err != nil {
				return err
			}
			t.Disabled = append(t.Disabled, d)
		}
		picked, _, err := s.choose(now, 1)
		t.Due = len(picked) > 0
		return err
	})
	return t, err
}

// countWaiting counts the origins that wait for the end of a host's rest. Some rest themselves at the same time, because
// they were visited last or asked for the rest. They are in poolRest, which has no index of hosts, so it reads those whose
// rest ends by then; the end of a Retry-After varies.
func (s *Store) countWaiting(h *HostRest) error {
	until := h.Until.Unix() + int64(retryJitter*maxRetryAfter)
	_, err := s.db.One(`SELECT count(*), CAST(coalesce(sum(overflows), 0) AS bigint), coalesce(min(id), '') FROM (
			SELECT id, overflows FROM schedule WHERE host = ?1 AND host <> '' AND pool <= 200
			UNION ALL SELECT id, overflows FROM schedule WHERE front = 1 AND pool = ?2 AND queue = 0 AND class = 0 AND ref <= ?3 AND host = ?1) AS waiting`,
		[]any{h.Host, poolRest, until}, sqldb.Into(&h.Origins, &h.Overflows, &h.Example))
	return err
}

// restingHosts returns the hosts that rest, the longest rest first.
func (s *Store) restingHosts(now int64) (all []HostRest) {
	for name, h := range s.cache.hosts {
		if h.until > now {
			all = append(all, HostRest{Host: name, Since: time.Unix(h.since, 0), Until: time.Unix(h.until, 0), Failures: h.failures})
		}
	}
	for name, r := range s.cache.refusals {
		if r.hostUntil > now {
			all = append(all, HostRest{Host: name, Until: time.Unix(r.hostUntil, 0)})
		}
	}
	slices.SortFunc(all, func(a, b HostRest) int { return cmp.Or(b.Until.Compare(a.Until), cmp.Compare(a.Host, b.Host)) })
	return all
}
