package policy

// A Place is the position at which an eligible origin waits. Pool, Lister and Class
// name a queue; in it, the smaller Ref comes first, then the smaller key.
type Place struct {
	Pool   Pool
	Lister int32 // of PoolFailing the failures in a row; 0 if the pool does not tell listers apart
	Class  uint16
	Ref    int64
}

// RateClass returns the class of the rate, as ClassOf, plus Classes for a fork.
func (p Place) RateClass() int { return int(p.Class % perWindow) }

// A Share is a number of slots for the best origins of some pools together.
type Share struct {
	Pools []Pool
	N     int
	Most  int  // of a refill: how many of these pools the whole batch may have; 0: any number
	Back  bool // take from the end of the queues with the largest refs
	Late  bool // take only origins that are late, the latest first; in a refill N is the most of them
}

// Counts are the numbers by which a policy divides slots.
type Counts struct {
	A, B int // enabled origins without a date, and with one
	// Types has the same for the types of visits, and Picked what this batch has by pool.
	Types  map[string]TypeCounts
	Picked map[Pool]int
	// Served is the number of slots that the policy gave out so far. With it, shares of less
	// than a slot of a small batch get one slot in some batches. A Plan sums it up from
	// ServedBy, which has the slots by the pools that got them.
	Served   int64
	ServedBy map[Pool]int64
	PerDay   float64 // visits that were granted lately (Pace)
	Late     bool    // Rules.MaxLag has effect; a Plan sets it if PerDay allows it
}

// TypeCounts are the numbers of one type of visits.
type TypeCounts struct {
	A, B   int // enabled origins without a date, and with one
	Flight int // visits under way
}

// A Policy decides which origins are visited next. Results depend on the arguments
// only, and all methods may be called concurrently.
type Policy interface {
	// Name returns the name that the configuration uses.
	Name() string
	// Record applies an outcome. position is the largest target handed out so far.
	Record(s State, e Event, position int64) (State, Effect)
	// Position returns the queue position after a visit of s was handed out; position is
	// the one before.
	Position(position int64, s State) int64
	// Place returns the place of an enabled origin.
	Place(s State) Place
	// Worth estimates the value of a visit now; Pick takes the highest first. In one
	// queue a smaller ref must be worth at least as much as a larger one.
	Worth(p Place, q Quality, now int64) float64
	// Shares divides n slots among pools, in the order in which Pick fills them.
	// refill are the pools, without a number each unless they are Late, that get the slots left over.
	Shares(n int, c Counts) (shares []Share, refill []Share)
}

// sharePerPool returns one share for each pool, with N = 0.
func sharePerPool(pools ...Pool) []Share {
	shares := make([]Share, len(pools))
	for i, p := range pools {
		shares[i] = Share{Pools: []Pool{p}}
	}
	return shares
}
