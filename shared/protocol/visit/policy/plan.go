package policy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A Plan is the policies and rules of all visit types, which are the kinds of origins. It
// is a Policy that asks the policy of an origin's type. Types with a policy, a weight or a
// queue length of their own get their own share of the slots; all others share the rest.
//
// Origins with a fixed interval (State.Every) precede all others under any policy.
type Plan struct {
	Hosts HostGroups // that share one politeness; set before the plan is used

	groups  []group           // the first has the types without a group of their own
	types   map[string]typed  // by type; "" stands for all others
	rules   map[string]Rules  // by type
	bounds  []int64           // each MaxLag that a type has, in seconds
	boundOf map[string]uint16 // by type: its index
	name    string
}

// typed is the policy of a type, with the rules of the type, and its group.
type typed struct {
	policy Policy
	group  int
}

// group is the types that share a policy and slots.
type group struct {
	visitType string // empty: all types without a group of their own
	policy    Policy
	weight    float64
	queue     int // most visits under way; 0: any number
}

// perGroup is the number of pools of a group: those of group i are the pools of its policy
// plus i·perGroup.
const perGroup = 16

// mostGroups leaves the pools from 176 on to the store.
const mostGroups = 11

var typeName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// Uniform is the plan with one policy and the same rules for all types.
func Uniform(policy string, r Rules) (*Plan, error) {
	p, err := New(policy, r)
	if err != nil {
		return nil, err
	}
	return Single(p, r.ForPolicy(policy)), nil
}

// Single is the plan with one policy for all types, which was made under the rules r.
func Single(p Policy, r Rules) *Plan {
	plan := &Plan{groups: []group{{policy: p, weight: 1}}, name: p.Name(), rules: map[string]Rules{"": r}, types: map[string]typed{"": {p, 0}}, boundOf: map[string]uint16{}}
	plan.addBound("")
	return plan
}

// ParsePlan parses policies, such as value,git=swh2026-git, and rules as ParseRules takes them,
// such as cooldown=1h,git.cooldown=2h,git.weight=3,git.queue=50. A name before = or a dot is a
// type; the rest is for all types that do not have their own. Types have the shortest cooldown of
// their kind unless a rule sets another. It fails with fault.ErrInvalid for malformed text.
func ParsePlan(policies, rules string) (*Plan, error) {
	policyOf, err := splitPolicies(policies)
	if err != nil {
		return nil, err
	}
	common, own := splitRules(rules)
	p := &Plan{types: map[string]typed{}, rules: map[string]Rules{}, boundOf: map[string]uint16{}, name: policies}
	names := map[string]bool{"": true}
	for _, k := range models.Kinds() {
		if k.Cooldown > 0 {
			names[string(k.Kind)] = true
		}
	}
	for _, more := range []map[string]string{policyOf, own} {
		for name := range more {
			if name != "" && !typeName.MatchString(name) {
				return nil, fmt.Errorf("visit type %.64q: %w: want 1 to 32 of a-z 0-9 _ -", name, fault.ErrInvalid)
			}
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) { // "" is the first
		if err := p.addType(name, policyOf, common, own[name]); err != nil {
			return nil, err
		}
	}
	if len(p.groups) > mostGroups {
		return nil, fmt.Errorf("visit policy %q: %w: want at most %d types with a policy, a weight or a queue of their own", policies, fault.ErrInvalid, mostGroups-1)
	}
	if len(p.bounds) > mostBounds {
		return nil, fmt.Errorf("visit rules with %d values of max-lag: %w: want at most %d", len(p.bounds), fault.ErrInvalid, mostBounds)
	}
	return p, nil
}

// splitPolicies returns the policies by type; the policy of all others has the type "" and is the first of Names
// unless the text has one. It refuses two policies of one type.
func splitPolicies(text string) (map[string]string, error) {
	policyOf := map[string]string{}
	for _, one := range strings.Split(text, ",") {
		name, policy, typed := strings.Cut(strings.TrimSpace(one), "=")
		if !typed {
			name, policy = "", name
		}
		if _, twice := policyOf[name]; twice {
			return nil, fmt.Errorf("visit policy %q: %w: want one policy for all types and one for each type, such as value,git=swh2026", text, fault.ErrInvalid)
		}
		policyOf[name] = policy
	}
	if policyOf[""] == "" {
		policyOf[""] = Names[0]
	}
	return policyOf, nil
}

// splitRules separates the rules of types from those of all; each has commas between and behind
// its rules. It checks nothing.
func splitRules(text string) (common string, own map[string]string) {
	own = map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if visitType, rule, typed := strings.Cut(name, "."); typed {
			own[visitType] += rule + "=" + value + ","
		} else {
			common += strings.TrimSpace(pair) + ","
		}
	}
	return common, own
}

// addType adds a type with its rules, and a group if it has a policy, a weight or a queue. The type "" must be
// the first. Unless a rule sets the cooldown, a kind with a shortest cooldown rests from there to the default.
func (p *Plan) addType(name string, policyOf map[string]string, common, own string) error {
	rules := DefaultRules()
	setsCooldown := strings.Contains(","+common+own, ",cooldown=")
	if k := models.OriginKind(name).Info(); k.Cooldown > 0 && !setsCooldown {
		rules.LongestCooldown, rules.Cooldown = rules.Cooldown, k.Cooldown
	}
	g := group{visitType: name, weight: 1}
	own, err := g.parse(own)
	if err == nil {
		rules, err = rules.parse(common + own)
	}
	if err != nil {
		return err
	}
	policy, ownPolicy := policyOf[name]
	if !ownPolicy {
		policy = policyOf[""]
	}
	rules = rules.ForPolicy(policy)
	if g.policy, err = New(policy, rules); err != nil {
		return err
	}
	p.rules[name] = rules
	p.types[name] = typed{policy: g.policy}
	p.addBound(name)
	if name == "" || ownPolicy || g.weight != 1 || g.queue > 0 {
		p.types[name] = typed{g.policy, len(p.groups)}
		p.groups = append(p.groups, g)
	}
	return nil
}

// parse sets weight and queue from the rules of a type, and returns the other rules, as text for Rules.parse.
func (g *group) parse(own string) (rest string, err error) {
	for _, pair := range strings.Split(own, ",") {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "weight":
			g.weight, err = strconv.ParseFloat(value, 64)
			if err != nil || !(g.weight > 0 && g.weight <= 1e6) {
				return "", fmt.Errorf("visit rule %s.weight=%s: %w: want more than 0, at most 10^6", g.visitType, value, fault.ErrInvalid)
			}
		case "queue":
			g.queue, err = strconv.Atoi(value)
			if err != nil || g.queue < 1 {
				return "", fmt.Errorf("visit rule %s.queue=%s: %w: want 1 or more visits", g.visitType, value, fault.ErrInvalid)
			}
		default:
			rest += pair + ","
		}
	}
	return rest, nil
}

// Rules returns the rules of a type. Those of hosts and of requested visits are the same
// for all types; they are the ones of the type "".
func (p *Plan) Rules(visitType string) Rules {
	if r, ok := p.rules[visitType]; ok {
		return r
	}
	return p.rules[""]
}

// AllRules returns the rules by type, for comparison with those of an earlier plan.
func (p *Plan) AllRules() map[string]Rules { return p.rules }

// LongestRest returns the longest rest that the rules of any type prescribe.
func (p *Plan) LongestRest() (longest time.Duration) {
	for _, r := range p.rules {
		longest = max(longest, r.LostAfter, r.Cooldown, r.LongestCooldown, r.FailedCooldown, r.NotFoundCooldown, r.LongestFailed)
	}
	return longest
}

// UsesTargets reports whether the policy of a type orders origins by their targets (ByTarget).
func (p *Plan) UsesTargets(visitType string) bool {
	return slices.Contains(ByTarget, p.PolicyOf(visitType))
}

// PolicyOf returns the name of the policy of a type.
func (p *Plan) PolicyOf(visitType string) string { return p.of(visitType).policy.Name() }

// UsesGroups reports whether the pools of a type's policy are the groups of the metrics.
func (p *Plan) UsesGroups(visitType string) bool { return !p.Ignores(visitType, PoolA) }

// Ignores reports whether the policy of a type gives no slots to a pool. It asks for 1,000 slots,
// so that no share is rounded to 0.
func (p *Plan) Ignores(visitType string, pool Pool) bool {
	shares, refill := p.of(visitType).policy.Shares(1000, Counts{A: 1, B: 1})
	for _, s := range append(shares, refill...) {
		if slices.Contains(s.Pools, pool) {
			return false
		}
	}
	return true
}

// of returns the policy and the group of a type.
func (p *Plan) of(visitType string) typed {
	if t, ok := p.types[visitType]; ok {
		return t
	}
	return p.types[""]
}

// Name implements Policy: the text of the plan.
func (p *Plan) Name() string { return p.name }

// Record implements Policy.
func (p *Plan) Record(s State, e Event, position int64) (State, Effect) {
	return p.of(s.Type).policy.Record(s, e, position)
}

// Position implements Policy. Visits at fixed intervals and those of policies without targets do not move it.
func (p *Plan) Position(position int64, s State) int64 {
	if s.Every > 0 || !p.UsesTargets(s.Type) {
		return position
	}
	return p.of(s.Type).policy.Position(position, s)
}

// Place implements Policy.
func (p *Plan) Place(s State) Place {
	if s.Every > 0 {
		due, _ := p.Rules(s.Type).fixedDue(s)
		return Place{Pool: PoolFixed, Ref: due}
	}
	t := p.of(s.Type)
	place := t.policy.Place(s)
	place.Pool += Pool(t.group * perGroup)
	place.Class += p.boundClass(s.Type)
	return place
}

// Worth implements Policy. The worth of an origin with a fixed interval is the number of
// days for which it has been due.
func (p *Plan) Worth(w Place, q Quality, now int64) float64 {
	if w.Pool == PoolFixed {
		return float64(now-w.Ref) / day
	}
	g := p.groups[min(int(w.Pool)/perGroup, len(p.groups)-1)]
	w.Pool %= perGroup
	w.Class %= perBound
	return g.policy.Worth(w, q, now)
}

// fixedShare is the largest share of the slots for fixed intervals while others wait, so
// that too many of them do not stop all others.
const fixedShare = 0.75

// Shares implements Policy: fixed intervals first, then each group by its weight, which is above
// 0, and the slots left over to any. It may be called several times for a batch: n are the slots
// that are still free, and c.Picked those that have been filled, so it divides both together and
// subtracts the filled ones. Every share counts from the slots that were divided by it before
// (c.ServedBy), so that a share of a share is exact too. A group with a queue length gets no more
// slots than its queue has left, of the refill too (Share.Most).
func (p *Plan) Shares(n int, c Counts) (shares, refill []Share) {
	fixed := []Pool{PoolFixed}
	need := p.LateVisits(c)
	c.Late = need > 0 && c.PerDay*LateShare >= need
	picked, served := p.byGroup(c)
	for _, filled := range c.Picked {
		n += filled // this batch as a whole
	}
	weights, servedByGroups := make([]float64, len(p.groups)), int64(0)
	for i, g := range p.groups {
		weights[i] = g.weight
		servedByGroups += served[i]
	}
	forFixed := splitSlots(n, servedByGroups+c.ServedBy[PoolFixed], fixedShare, 1-fixedShare)[0]
	shares = []Share{{Pools: fixed, N: forFixed - c.Picked[PoolFixed]}}
	forGroups := splitSlots(max(n-c.Picked[PoolFixed], 0), servedByGroups, weights...)
	for i, g := range p.groups {
		counts := c
		counts.Served = served[i] + int64(picked[i])
		if g.visitType != "" {
			counts.A, counts.B = c.Types[g.visitType].A, c.Types[g.visitType].B
		}
		slots, free := max(forGroups[i]-picked[i], 0), 0
		if g.queue > 0 {
			free = g.queue - c.Types[g.visitType].Flight
			if free <= picked[i] {
				continue
			}
			slots = min(slots, free-picked[i])
		}
		own, more := g.policy.Shares(slots, counts)
		shares = append(shares, shifted(own, i, 0)...)
		refill = append(refill, shifted(more, i, free)...)
	}
	return shares, append(refill, Share{Pools: fixed})
}

// byGroup returns how many slots each group got: of this batch (picked), and before it (served).
func (p *Plan) byGroup(c Counts) (picked []int, served []int64) {
	picked, served = make([]int, len(p.groups)), make([]int64, len(p.groups))
	groupOf := func(pool Pool) int { return int(pool) / perGroup }
	for pool, n := range c.Picked {
		if g := groupOf(pool); pool != PoolFixed && g < len(picked) {
			picked[g] += n
		}
	}
	for pool, n := range c.ServedBy { // of another plan too, with more groups
		if g := groupOf(pool); pool != PoolFixed && g < len(served) {
			served[g] += n
		}
	}
	return picked, served
}

// shifted returns shares of a policy with the pools of group i, and the field Most. The first
// group has neither other pools nor a limit.
func shifted(shares []Share, i, most int) []Share {
	if i == 0 {
		return shares
	}
	moved := make([]Share, len(shares))
	for k, s := range shares {
		moved[k] = s
		moved[k].Most = most
		moved[k].Pools = make([]Pool, len(s.Pools))
		for j, pool := range s.Pools {
			moved[k].Pools[j] = pool + Pool(i*perGroup)
		}
	}
	return moved
}
