package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"leasehold/shared/fault"
)

// A Requirement is what a policy must hold in each scenario, in the mean of its
// seeds: fresh>=0.97*bound, dead<=0.04; or, as mean(fresh)>=1.05*swh2026, in the
// mean of all scenarios.
type Requirement struct {
	text, field, op string
	whole           bool // in the mean of all scenarios
	factor          float64
	than            string // bound, a policy, or empty for the plain number
}

var requirement = regexp.MustCompile(`^(?:mean\(([a-z0-9_]+)\)|([a-z0-9_]+))(>=|<=|>|<)([0-9.eE+-]+)(?:\*([a-z0-9]+))?$`)

// short are names of fields that may be shortened.
var short = map[string]string{"fresh": "freshness", "lag": "lag_days", "delay": "delay_p95_days"}

// ParseRequirement reads FIELD OP NUMBER, or FIELD OP NUMBER*POLICY, which compares
// with what that policy (or bound) reached in the same worlds. FIELD is a number of
// a result; fresh, lag and delay are short for freshness, lag_days and
// delay_p95_days.
func ParseRequirement(text string) (Requirement, error) {
	m := requirement.FindStringSubmatch(text)
	if m == nil {
		return Requirement{}, fmt.Errorf("requirement %q: %w: want such as fresh>=0.97*bound, dead<=0.04 or mean(fresh)>=1.05*swh2026", text, fault.ErrInvalid)
	}
	factor, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Requirement{}, fmt.Errorf("requirement %q: %q is no number: %w", text, m[4], fault.ErrInvalid)
	}
	field := cmp.Or(m[1], m[2])
	field = cmp.Or(short[field], field)
	known := fields(Result{OfBound: 1})
	if _, ok := known[field]; !ok {
		names := slices.AppendSeq(slices.Collect(maps.Keys(known)), maps.Keys(short))
		slices.Sort(names)
		return Requirement{}, fmt.Errorf("requirement %q: %w: %s is none of %v", text, fault.ErrInvalid, field, names)
	}
	return Requirement{text, field, m[3], m[1] != "", factor, m[5]}, nil
}

// Needs returns an error if the requirement compares with what is none of these
// policies, nor the bound.
func (q Requirement) Needs(policies []string) error {
	if q.than == "" || q.than == Bound || slices.Contains(policies, q.than) {
		return nil
	}
	return fmt.Errorf("requirement %q: %w: %s is not simulated; add it to --policy", q.text, fault.ErrInvalid, q.than)
}

// fields are a result's numbers by their names in JSON.
func fields(r Result) map[string]float64 {
	text, _ := json.Marshal(r) // plain numbers and strings
	var all map[string]any
	_ = json.Unmarshal(text, &all)
	numbers := map[string]float64{}
	for name, v := range all {
		if x, ok := v.(float64); ok {
			numbers[name] = x
		}
	}
	return numbers
}

// Check returns an error that says where a policy does not hold the requirement.
func (q Requirement) Check(results []Result, policy string) error {
	scenarios := []string{""}
	if !q.whole {
		scenarios = nil
		for _, r := range results {
			if !slices.Contains(scenarios, r.Scenario) {
				scenarios = append(scenarios, r.Scenario)
			}
		}
	}
	var broken []string
	for _, s := range scenarios {
		got, ok := q.mean(results, s, policy)
		want := q.factor
		if q.than != "" {
			other, known := q.mean(results, s, q.than)
			want, ok = want*other, ok && known
		}
		if !ok || !compare(got, q.op, want) {
			broken = append(broken, strings.TrimSpace(fmt.Sprintf("%s %.4g, not %s %.4g", s, got, q.op, want)))
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("%s does not hold for %s: %s", q.text, policy, strings.Join(broken, "; "))
	}
	return nil
}

// mean is of the field over all seeds of a scenario, or of all scenarios; false says
// that there is no such result.
func (q Requirement) mean(results []Result, scenario, policy string) (float64, bool) {
	sum, n := 0.0, 0
	for _, r := range results {
		if r.Policy == policy && (scenario == "" || r.Scenario == scenario) {
			sum, n = sum+fields(r)[q.field], n+1
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

func compare(a float64, op string, b float64) bool {
	switch op {
	case ">=":
		return a >= b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a < b
}
