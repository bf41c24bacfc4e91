package visit

import (
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// A Place is the position at which an eligible origin waits. Pool, Lister and Class
// name a queue; in it, the smaller Ref comes first, then the smaller key.
type Place struct {
	Pool   Pool
	Lister int32 // 0 if the pool does not tell listers apart
	Class  uint8
	Ref    int64
}

// Quality is an estimate of how good a lister's dates are.
type Quality struct {
	Recall    float64 // share of the changes that it dates
	Precision float64 // share of the dates that belong to a change
	Listed    int64   // end of its last listing

	// FirstVisits is true if first visits of the origins that it names precede all
	// other visits.
	FirstVisits bool
}

// A Share is a number of slots for the best origins of some pools together.
type Share struct {
	Pools []Pool
	N     int
	Back  bool // take from the end of the queues with the largest refs
}

// A Policy decides which origins are visited next. Results depend on the arguments
// only, and all methods may be called concurrently.
type Policy interface {
	// Name returns the name that the configuration uses.
	Name() string
	// Record applies an outcome. position is the largest target handed out so far.
	Record(s State, e Event, position int64) (State, Effect)
	// Place returns the position of an enabled origin.
	Place(s State) Place
	// Worth estimates the value of a visit now; Pick takes the highest first. In one
	// queue a smaller ref must be worth at least as much as a larger one.
	Worth(p Place, q Quality, now int64) float64
	// Shares divides n slots among pools, in the order in which Pick fills them.
	// refill are the pools, without a number each, that get the slots left over.
	Shares(n int, c Counts) (shares []Share, refill []Share)
}

// Names are the policies, the default first.
var Names = []string{"value", "seed", "swh2026", "legacy", "roundrobin"}

// ByTarget are the policies that order origins by their targets.
var ByTarget = []string{"seed", "swh2026", "legacy"}

// New returns the policy with a name. The error is fault.ErrInvalid if no policy has
// the name or r.Check fails.
func New(name string, r Rules) (Policy, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	switch name {
	case "value":
		return Value{r}, nil
	case "seed":
		return seed{r}, nil
	case "swh2026":
		return swh{r}, nil
	case "legacy":
		return legacy{onePool{r}}, nil
	case "roundrobin":
		return RoundRobin{onePool{r}}, nil
	}
	return nil, fmt.Errorf("visit policy %q: %w: want one of %s", name, fault.ErrInvalid, strings.Join(Names, ", "))
}

// sharePerPool returns one share for each pool, with N = 0.
func sharePerPool(pools ...Pool) []Share {
	shares := make([]Share, len(pools))
	for i, p := range pools {
		shares[i] = Share{Pools: []Pool{p}}
	}
	return shares
}
