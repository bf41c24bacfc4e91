package trace

import "leasehold/shared/tuple"

// leaseFields is the index of the field in which a tuple names a lease, by its first
// field.
var leaseFields = map[string]int{"lease": 1, "task": 3, "result": 4}

// LeaseOf returns the id of the lease that a tuple of our protocols names, by its
// first field: ("lease", id, …), ("task", action, id, lease, …) and ("result",
// action, subject, part, …, lease, …); else "".
func LeaseOf(t tuple.Tuple) string {
	if field, ok := leaseFields[t.Str(0)]; ok {
		return t.Str(field)
	}
	return ""
}
