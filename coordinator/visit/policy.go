package visit

import (
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// A Place is where an eligible origin waits. Pool, Lister and Class name a queue;
// in it, the smaller Ref comes first, then the smaller key.
type Place struct {
	Pool   Pool
	Lister int32 // 0 where the pool does not care
	Class  uint8
	Ref    int64
}

// Quality is what is known of a lister's dates.
type Quality struct {
	Recall    float64 // of changes, the share that it dates
	Precision float64 // of dates, the share behind which there is a change
	Listed    int64   // when its last listing ended

	// FirstVisits says that first visits of what it names have priority.
	FirstVisits bool
}

// A Share is slots for some pools: the best of them together.
type Share struct {
	Pools []Pool
	N     int
	Back  bool // from the other end of their queues
}

// A Policy decides. Policies are values without state of their own: what a method
// returns depends on its arguments only, and all may be called concurrently.
type Policy interface {
	// Name is what the policy is called in the configuration.
	Name() string
	// Record applies an outcome. position is the largest target handed out.
	Record(s State, e Event, position int64) (State, Effect)
	// Place says where an enabled origin waits.
	Place(s State) Place
	// Worth orders the queues of a share: the higher is visited sooner. In one
	// queue a smaller ref is never worth less.
	Worth(p Place, q Quality, now int64) float64
	// Shares gives n slots to pools, in the order in which they are served. What
	// a share leaves goes to later ones that have no limit of their own: Refill.
	Shares(n int, c Counts) (shares []Share, refill []Share)
}

// Names lists the policies, the default first.
var Names = []string{"value", "seed", "swh2026", "legacy", "roundrobin"}

// ByTarget lists the policies that order origins by their targets.
var ByTarget = []string{"seed", "swh2026", "legacy"}

// New returns the policy of a name. fault.ErrInvalid says that there is none, or
// that the rules make no sense.
func New(name string, r Rules) (Policy, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	switch name {
	case "value":
		return Value{r}, nil
	case "seed":
		return Seed{r}, nil
	case "swh2026":
		return SWH{r}, nil
	case "legacy":
		return Legacy{r}, nil
	case "roundrobin":
		return RoundRobin{r}, nil
	}
	return nil, fmt.Errorf("visit policy %q: %w: there are %s", name, fault.ErrInvalid, strings.Join(Names, ", "))
}

// single is a share without a limit for each pool.
func single(pools ...Pool) []Share {
	shares := make([]Share, len(pools))
	for i, p := range pools {
		shares[i] = Share{Pools: []Pool{p}}
	}
	return shares
}
