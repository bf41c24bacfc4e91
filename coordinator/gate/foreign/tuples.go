package foreign

import (
	"fmt"
	"math"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// claimedAction returns the action of the tasks that a pattern matches; empty for all actions. The pattern may
// constrain only the action, because a claim takes the first task that its worker may do.
func claimedAction(p interop.Pattern) (string, error) {
	err := fmt.Errorf(`a get in the space task is a claim: %w: want ("task", action or any string, any string, any string, any int64, any int64, any string)`, fault.ErrInvalid)
	// These differ in every field but the first two, so only formals accept both.
	samples := []tuple.Tuple{
		{"task", "", "a", "b", int64(1), int64(2), "c"},
		{"task", "", "d", "e", int64(math.MaxInt64), int64(3), "f"},
	}
	if len(p) != len(samples[0]) {
		return "", err
	}
	action := ""
	if len(p[1].Any) == 1 && !p[1].Object {
		action, _ = p[1].Any[0].(string)
	}
	for _, s := range samples {
		s[1] = action
		if !p.Matches(s) {
			return "", err
		}
	}
	return action, nil
}

// tokenOf returns the token of a task.
func tokenOf(t tuple.Tuple) int64 { return t.Int64(4) }

// isResult reports whether a tuple is a result of package task.
func isResult(t tuple.Tuple) bool {
	return task.MatchResult(tuple.AnyString, tuple.AnyString, tuple.AnyString).Matches(t)
}
