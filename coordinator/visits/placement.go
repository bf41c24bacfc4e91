package visits

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// placementRevision counts how often the program's way to place was changed.
const placementRevision = 7

// placeAll places all origins again if another policy, other rules, other groups of hosts or
// another revision placed them. If the process dies before the end, the next one begins again,
// because what placed them is noted last.
func (s *Store) placeAll(ctx context.Context, op string) error {
	now := time.Now()
	placed, err := s.isPlaced(ctx, op)
	if err != nil {
		return err
	}
	if placed {
		return s.fixClock(ctx, op, now.Unix())
	}
	if err := s.reschedule(ctx, op, "", now.Unix()); err != nil {
		return err
	}
	rules, err := json.Marshal(s.policy.AllRules())
	if err != nil {
		return err
	}
	return s.write(ctx, op, func() error {
		return s.db.Exec("INSERT OR REPLACE INTO placement VALUES (1, ?, ?, ?)", s.placedBy(), placementRevision, string(rules))
	})
}

// isPlaced reports whether the policy and the rules of s, and this revision of the program, placed the origins.
// Rules that cannot be read are other rules.
func (s *Store) isPlaced(ctx context.Context, op string) (placed bool, err error) {
	err = s.file.Read(ctx, op, func(c *sqlfile.Conn) error {
		var name, text string
		var revision int
		var rules map[string]policy.Rules
		known, err := c.One("SELECT policy, revision, rules FROM placement", nil, sqlfile.Into(&name, &revision, &text))
		if err != nil || !known {
			return err
		}
		err = json.Unmarshal([]byte(text), &rules)
		placed = err == nil && name == s.placedBy() && revision == placementRevision && reflect.DeepEqual(rules, s.policy.AllRules())
		return nil
	})
	return placed, err
}

// placedBy identifies the policy and the groups of hosts of s.
func (s *Store) placedBy() string {
	return strings.TrimSpace(s.policy.Name() + " " + s.policy.Hosts.String())
}

// fixClock finds origins that rest for longer than any rule states, or were scheduled in the future, because the
// clock was wrong when they were scheduled, and lets them rest from now. It first writes the claims into their
// rows, because its query reads only those.
func (s *Store) fixClock(ctx context.Context, op string, now int64) error {
	if err := s.writeClaims(ctx, op); err != nil {
		return err
	}
	longest := max(s.policy.LongestRest(), maxRetryAfter*time.Second)
	return s.reschedule(ctx, op, fmt.Sprintf("WHERE front = 1 AND pool IN (%d, %d) AND (ref > %d + every OR last_scheduled > %d)", poolRest, poolFlight, now+int64(longest.Seconds()), now), now)
}

// reschedule places the origins that a WHERE clause selects again (empty: all), and takes back times that are in
// the future. It also finds their hosts or groups again, since the groups may be others.
func (s *Store) reschedule(ctx context.Context, op, where string, now int64) error {
	keys, err := s.keys(ctx, op, "SELECT key FROM schedule "+where)
	if err != nil {
		return err
	}
	return stepThrough(ctx, s, op, keys, func(key int64) error {
		return s.editKey(key, now, func(r *row) {
			for _, t := range []*int64{&r.LastScheduled, &r.LastVisit, &r.LastSuccess, &r.LastUpdate, &r.LastSeen} {
				*t = min(*t, now)
			}
			r.host = s.policy.Hosts.Of(hostOf(r.uri))
			s.update().noteRefusal(*r, now) // refusals count by r.host
		})
	})
}

// keys reads the keys that a query selects, into memory: the transactions that change their origins come later.
func (s *Store) keys(ctx context.Context, op, query string, args ...any) (keys []int64, err error) {
	err = s.file.Read(ctx, op, func(c *sqlfile.Conn) error {
		return c.All(query, args, func(from sqlfile.Row) error {
			var key int64
			err := from.Scan(&key)
			keys = append(keys, key)
			return err
		})
	})
	return keys, err
}
