package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkExplore reports the number of states and the bytes per state.
func BenchmarkExplore(b *testing.B) {
	for _, c := range []struct {
		name           string
		managers, work int
		local          bool
		o              Options
		states         int64
	}{
		{"shared m2 w1", 2, 1, false, Options{}, 354272},
		{"shared m2 w1 compact", 2, 1, false, Options{Compact: true}, 354272},
		{"shared m2 w2", 2, 2, false, Options{}, 0},
		{"local m2 w5 reduced", 2, 5, true, Options{Reduction: Reduction{Dead: true, Symmetry: true}}, 748032},
		{"local m2 w5 all reductions", 2, 5, true, Options{Reduction: FullReduction}, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := model(b, big(c.managers, c.work, c.local), 3)
			for b.Loop() {
				s := newSearch(m, c.o.withDefaults())
				s.run(b.Context(), toTheEnd)
				require.False(b, s.over.Load())
				if c.states > 0 {
					require.Equal(b, c.states, s.total.states)
				}
				b.ReportMetric(float64(s.total.states), "states")
				b.ReportMetric(float64(s.store.bytes()+s.tables.bytes())/float64(s.total.states), "bytes/state")
			}
		})
	}
}
