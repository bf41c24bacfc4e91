package visits

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// placementRevision counts how often the program's way to place was changed.
const placementRevision = 9

// placeAll places all origins again if another policy, other rules, other groups of hosts or
// another revision placed them. If the process dies before the end, the next one begins again,
// because what placed them is noted last.
func (s *Store) placeAll(ctx context.Context, op string) error {
	now := time.Now()
	placed, before, err := s.isPlaced(ctx, op)
	if err != nil {
		return err
	}
	if placed {
		return s.fixClock(ctx, op, now.Unix())
	}
	retargeted := s.retargetedSince(before)
	if err := s.reschedule(ctx, op, now.Unix(), retargeted, ""); err != nil {
		return err
	}
	rules, err := json.Marshal(s.policy.AllRules())
	if err != nil {
		return err
	}
	return s.write(ctx, op, func() error {
		for kind := range s.cache.position {
			if retargeted(string(kind)) {
				s.update().position[kind] = now.Unix()
			}
		}
		return s.db.Exec(`INSERT INTO placement (one, policy, revision, rules) VALUES (1, ?, ?, ?) ON CONFLICT (one)
			DO UPDATE SET policy = excluded.policy, revision = excluded.revision, rules = excluded.rules`, s.placedBy(), placementRevision, string(rules))
	})
}

// retargetedSince returns whether a type of visits has a policy with targets now, and had another policy, or an
// unknown one, when before (placedBy) placed the origins. The targets that the other policy left mean nothing to
// this one.
func (s *Store) retargetedSince(before string) func(visitType string) bool {
	policies, _, _ := strings.Cut(before, " ")
	earlier, err := policy.ParsePlan(policies, "")
	return func(visitType string) bool {
		same := err == nil && earlier.PolicyOf(visitType) == s.policy.PolicyOf(visitType)
		return before != "" && s.policy.UsesTargets(visitType) && !same
	}
}

// isPlaced reports whether the policy and the rules of s, and this revision of the program, placed the origins,
// and what placed them (placedBy); empty: nothing did. Rules that cannot be read are other rules.
func (s *Store) isPlaced(ctx context.Context, op string) (placed bool, name string, err error) {
	err = s.file.Read(ctx, op, func(c *sqldb.Conn) error {
		var text string
		var revision int
		var rules map[string]policy.Rules
		known, err := c.One("SELECT policy, revision, rules FROM placement", nil, sqldb.Into(&name, &revision, &text))
		if err != nil || !known {
			return err
		}
		err = json.Unmarshal([]byte(text), &rules)
		placed = err == nil && name == s.placedBy() && revision == placementRevision && reflect.DeepEqual(rules, s.policy.AllRules())
		return nil
	})
	return placed, name, err
}

// placedBy identifies the policy and the groups of hosts of s. Up to the first space it is the policy.
func (s *Store) placedBy() string {
	policies := strings.ReplaceAll(s.policy.Name(), " ", "")
	return strings.TrimSpace(policies + " " + s.policy.Hosts.String())
}

// fixClock finds origins that rest for longer than any rule states, or were scheduled in the future, because the
// clock was wrong when they were scheduled, and lets them rest from now. It first writes the claims into their
// rows, because its query reads only those.
func (s *Store) fixClock(ctx context.Context, op string, now int64) error {
	if err := s.writeClaims(ctx, op); err != nil {
		return err
	}
	longest := max(s.policy.LongestRest(), maxRetryAfter*time.Second)
	return s.reschedule(ctx, op, now, func(string) bool { return false },
		"WHERE front = 1 AND pool IN (201, 202) AND (ref > ? + every OR last_scheduled > ?)", now+int64(longest.Seconds()), now)
}

// reschedule places the origins that a WHERE clause selects again (empty: all), and takes back times that are in
// the future. It also finds their hosts or groups again, since the groups may be others, and sets the targets of
// the types that retargeted reports.
func (s *Store) reschedule(ctx context.Context, op string, now int64, retargeted func(visitType string) bool, where string, args ...any) error {
	keys, err := s.keys(ctx, op, "SELECT key FROM schedule "+where, args...)
	if err != nil {
		return err
	}
	return stepThrough(ctx, s, op, keys, func(key int64) error {
		return s.editKey(key, now, func(r *row) error {
			for _, t := range []*int64{&r.LastScheduled, &r.ToldAt, &r.LastVisit, &r.LastSuccess, &r.LastUpdate, &r.LastSeen} {
				*t = min(*t, now)
			}
			if retargeted(r.Type) {
				r.Target = s.rulesOf(r.kind).TargetAfterVisit(r.State)
			}
			r.host = s.policy.Hosts.Of(r.hostName())
			s.update().noteRefusal(*r, now) // refusals count by r.host
			return nil
		})
	})
}

// keys reads the keys that a query selects, into memory: the transactions that change their origins come later.
func (s *Store) keys(ctx context.Context, op, query string, args ...any) (keys []int64, err error) {
	err = s.file.Read(ctx, op, func(c *sqldb.Conn) error {
		return c.All(query, args, func(from sqldb.Row) error {
			var key int64
			err := from.Scan(&key)
			keys = append(keys, key)
			return err
		})
	})
	return keys, err
}
