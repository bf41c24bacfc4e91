package node

import (
	"time"

	"leasehold/coordinator/api"
	"leasehold/shared/process/histogram"
	"leasehold/shared/space"
)

// callBounds are the bounds of the durations of calls over the gate.
var callBounds = []time.Duration{
	100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second, time.Minute,
}

// measuredVerbs are the verbs whose calls are measured over the gate. Receive and Next mostly
// wait for something to happen, and are left out.
var measuredVerbs = []space.Verb{
	space.VerbPut, space.VerbPutP, space.VerbGet, space.VerbGetP, space.VerbGetAll, space.VerbQuery, space.VerbQueryP, space.VerbQueryAll,
	space.VerbGetUpTo, space.VerbQueryUpTo, space.VerbCount, space.VerbCall, space.VerbCreate, space.VerbList,
}

// durations returns the histograms of a coordinator for its metrics. calls has those of calls over
// the gate, which are in all too, by verb, so that the gate adds to them.
func durations(h *hosted) (all []api.Durations, calls map[space.Verb]*histogram.Histogram) {
	all = []api.Durations{{Name: "leasehold_lease_seconds", Help: "This is the time from the grant of a lease to its end.", Histogram: h.Durations()}}
	calls = map[space.Verb]*histogram.Histogram{}
	for _, verb := range measuredVerbs {
		calls[verb] = histogram.New(callBounds...)
		all = append(all, api.Durations{
			Name: "leasehold_gate_call_seconds", Help: "This is the time from a request over the gate to its answer, with the time that it waited for a tuple.",
			Labels: []string{"verb", verb.String()}, Histogram: calls[verb],
		})
	}
	return all, calls
}
