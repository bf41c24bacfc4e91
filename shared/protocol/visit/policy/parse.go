package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// ParseRules parses rules written as NAME=VALUE and separated by commas, such as
// cooldown=1h,disable-after=5,intervals=1/1/2/2/2/4/16. Rules that the text does not name keep the
// value of DefaultRules. It fails with fault.ErrInvalid for malformed text, and names the rule and what is accepted.
func ParseRules(text string) (Rules, error) {
	return DefaultRules().parse(text)
}

// parse returns the rules with those that a text names. An unknown name, a value that does not
// parse and one out of range give fault.ErrInvalid. fields returns pointers into r, a copy; so the
// caller's rules stay.
func (r Rules) parse(text string) (Rules, error) {
	fields := r.fields()
	for _, pair := range strings.Split(text, ",") {
		pair = strings.TrimSpace(pair)
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		field, ok := fields[name]
		if !ok {
			return Rules{}, fmt.Errorf("visit rule %q: %w: want one of %s", name, fault.ErrInvalid, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if err := setField(field, value); err != nil {
			return Rules{}, fmt.Errorf("visit rule %s=%s: %w: %w", name, value, fault.ErrInvalid, err)
		}
	}
	return r, r.Check()
}

// fields returns a pointer to each rule by the name that users write. setField knows the types of
// the pointers.
func (r *Rules) fields() map[string]any {
	return map[string]any{
		"intervals": &r.Intervals, "first-index": &r.FirstIndex, "raise": &r.Raise, "lower": &r.Lower, "fudge": &r.Fudge,
		"disable-after": &r.DisableAfter, "cooldown": &r.Cooldown, "longest-cooldown": &r.LongestCooldown, "rest-share": &r.RestShare, "max-lag": &r.MaxLag, "told-gap": &r.ToldGap, "lost-after": &r.LostAfter,
		"failed-cooldown": &r.FailedCooldown, "not-found-cooldown": &r.NotFoundCooldown,
		"longest-failed-cooldown": &r.LongestFailed, "failed-growth": &r.FailedGrowth, "disable-span": &r.DisableSpan, "ahead": &r.Ahead,
		"host-share": &r.HostShare, "host-slots": &r.HostSlots, "host-gap": &r.HostGap, "longest-host-gap": &r.LongestGap, "now-share": &r.NowShare, "mix": &r.MixShare,
		"weight-fresh": &r.WeightFresh, "weight-lag": &r.WeightLag, "prior-days": &r.PriorDays, "prior-strength": &r.PriorStrength,
		"half-life-days": &r.HalfLifeDays, "horizon-days": &r.HorizonDays, "first-share": &r.FirstShare, "first-order": &r.FirstOrder, "fork-weight": &r.ForkWeight, "known-share": &r.KnownShare, "failed-factor": &r.FailedFactor,
	}
}

// setField parses value into field, a pointer that Rules.fields returned.
func setField(field any, value string) (err error) {
	switch to := field.(type) {
	case *string:
		*to = value
	case *int:
		*to, err = strconv.Atoi(value)
	case *float64:
		*to, err = strconv.ParseFloat(value, 64)
	case *time.Duration:
		*to, err = parseDuration(value)
	case *[]int:
		*to = nil
		for _, part := range strings.Split(value, "/") {
			n, err := strconv.Atoi(part)
			if err != nil {
				return err
			}
			*to = append(*to, n)
		}
	}
	return err
}

// parseDuration parses a duration, or a number of days such as 14d.
func parseDuration(value string) (time.Duration, error) {
	number, inDays := strings.CutSuffix(value, "d")
	if !inDays {
		return time.ParseDuration(value)
	}
	days, err := strconv.ParseFloat(number, 64)
	if err != nil || !(days >= 0 && days <= 100_000) {
		return 0, fmt.Errorf("%q: want 0 to 100000 days, such as 14d", value)
	}
	return time.Duration(days * 24 * float64(time.Hour)), nil
}
