package explore

import (
	"cmp"
	"runtime"
	"time"
)

// Reduction selects which states are identified or left out. Reductions never change a
// verdict; they reduce the number of states.
type Reduction struct {
	Dead     bool // variables that are written before they are read count as 0
	Symmetry bool // copies of a process are interchangeable
	Order    bool // partial-order reduction: steps without effect on other processes go first
}

// FullReduction has all reductions.
var FullReduction = Reduction{Dead: true, Symmetry: true, Order: true}

// Options bounds a search. The zero value selects the defaults.
type Options struct {
	Reduction Reduction
	Compact   bool          // store 64-bit hashes; the verdict mentions it
	Cores     int           // 0: all
	States    int64         // 0: 20 million
	Memory    int64         // bytes; 0: 4 GiB
	Time      time.Duration // 0: no bound
}

// Unreduced returns the options without reductions.
func (o Options) Unreduced() Options {
	o.Reduction = Reduction{}
	return o
}

// withDefaults returns the options with defaults for values that are 0 or negative.
func (o Options) withDefaults() Options {
	o.Cores = cmp.Or(max(o.Cores, 0), runtime.GOMAXPROCS(0))
	o.States = cmp.Or(max(o.States, 0), 20_000_000)
	o.Memory = cmp.Or(max(o.Memory, 0), 4<<30)
	return o
}
