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

// A Requirement is a condition on the results of a policy, such as fresh>=0.97*known-rates
// or dead<=0.04. It applies to each scenario (the mean over its seeds); with
// mean(...), as in mean(fresh)>=1.05*swh2026, to the mean over all scenarios.
type Requirement struct {
	text, field, op string
	allScenarios    bool // applies to the mean over all scenarios
	factor          float64
	reference       string // KnownRates or a policy, multiplied by factor; empty: factor is the limit
}

var requirement = regexp.MustCompile(`^(?:mean\(([a-z0-9_]+)\)|([a-z0-9_]+))(>=|<=|>|<)([0-9.eE+-]+)(?:\*([a-z0-9-]+))?$`)

// abbreviations are short names of fields.
var abbreviations = map[string]string{"fresh": "freshness", "lag": "lag_days", "delay": "delay_p95_days"}

// ParseRequirement parses FIELD OP NUMBER or FIELD OP NUMBER*POLICY, without spaces. POLICY (or
// known-rates) means that policy's result in the same scenarios and seeds. FIELD is a numeric field
// of Result as JSON names it; fresh, lag and delay abbreviate freshness, lag_days and
// delay_p95_days. It fails with fault.ErrInvalid for malformed text.
func ParseRequirement(text string) (Requirement, error) {
	m := requirement.FindStringSubmatch(text)
	if m == nil {
		return Requirement{}, fmt.Errorf("requirement %q: %w: want FIELD OP NUMBER or FIELD OP NUMBER*POLICY, such as fresh>=0.97*known-rates, dead<=0.04 or mean(fresh)>=1.05*swh2026", text, fault.ErrInvalid)
	}
	factor, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Requirement{}, fmt.Errorf("requirement %q: %w: %q is not a number", text, fault.ErrInvalid, m[4])
	}
	field := cmp.Or(m[1], m[2])
	field = cmp.Or(abbreviations[field], field)
	// Fields that JSON omits when they are 0 are set, so that they are known.
	known := fields(Result{OfBound: 1, OfBest: 1, OfBestPM: 1, OfBestMin: 1, Optimum: 1, OfOptimum: 1, Clairvoyant: 1})
	if _, ok := known[field]; !ok {
		names := slices.AppendSeq(slices.Collect(maps.Keys(known)), maps.Keys(abbreviations))
		slices.Sort(names)
		return Requirement{}, fmt.Errorf("requirement %q: %w: unknown field %q; use one of %s", text, fault.ErrInvalid, field, strings.Join(names, ", "))
	}
	return Requirement{text: text, field: field, op: m[3], allScenarios: m[1] != "", factor: factor, reference: m[5]}, nil
}

// CheckReference returns fault.ErrInvalid if policies lacks the policy that the requirement compares with.
func (q Requirement) CheckReference(policies []string) error {
	if q.reference == "" || q.reference == KnownRates || slices.Contains(policies, q.reference) {
		return nil
	}
	return fmt.Errorf("requirement %q: %w: %s is not simulated; add it to --policy", q.text, fault.ErrInvalid, q.reference)
}

// fields returns the numbers of a result by their JSON names. It goes by way of JSON, so that
// requirements name the fields as the output does.
func fields(r Result) map[string]float64 {
	text, _ := json.Marshal(r) // cannot fail: numbers and strings only
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

// Check returns an error that lists the scenarios in which the policy does not meet the
// requirement, with the value and the limit. A scenario without results of the policy or of the
// reference is not met.
func (q Requirement) Check(results []Result, policy string) error {
	scenarios := []string{""} // all together
	if !q.allScenarios {
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
		if q.reference != "" {
			other, known := q.mean(results, s, q.reference)
			want, ok = want*other, ok && known
		}
		if !ok || !compare(got, q.op, want) {
			broken = append(broken, strings.TrimSpace(fmt.Sprintf("%s %.4g, want %s %.4g", s, got, q.op, want)))
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("policy %s does not meet %s: %s", policy, q.text, strings.Join(broken, "; "))
	}
	return nil
}

// mean returns the mean of the field over the seeds of a scenario, or over all results
// if scenario is empty; false: there is no result of the policy.
func (q Requirement) mean(results []Result, scenario, policy string) (float64, bool) {
	sum, n := 0.0, 0
	for _, r := range results {
		if r.Policy == policy && (scenario == "" || r.Scenario == scenario) {
			sum, n = sum+fields(r)[q.field], n+1
		}
	}
	return sum / float64(max(n, 1)), n > 0
}

// compare reports whether a op b holds; op is one of those of ParseRequirement: >=, <=, > or <.
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
