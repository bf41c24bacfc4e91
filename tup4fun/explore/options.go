package explore

import (
	"runtime"
	"time"
)

// Reduction says which states are taken for one another or left out. None of it
// changes a verdict; all of it makes for fewer states.
type Reduction struct {
	Dead     bool // variables that are written before they are read count as 0
	Symmetry bool // copies of a process may change places
	Order    bool // steps that concern nobody else go first (partial-order reduction)
}

// FullReduction is all of it.
var FullReduction = Reduction{Dead: true, Symmetry: true, Order: true}

// Options bounds a search. The zero value is the default.
type Options struct {
	Reduction Reduction
	Compact   bool          // store 64-bit prints, and say so in the verdict
	Cores     int           // 0: all
	States    int64         // 0: 20 million
	Memory    int64         // bytes; 0: 4 GiB
	Time      time.Duration // 0: no bound
}

const (
	defaultStates = 20_000_000
	defaultMemory = 4 << 30
)

func (o Options) normal() Options {
	if o.Cores <= 0 {
		o.Cores = runtime.GOMAXPROCS(0)
	}
	if o.States <= 0 {
		o.States = defaultStates
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	return o
}
