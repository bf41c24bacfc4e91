//go:build unix

package explore

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkRuns compares the check of a property of runs, without fairness and with it, with that of
// deadlockfree: the time with all cores, and the CPU time. Neither uses reductions.
func BenchmarkRuns(b *testing.B) {
	safety := model(b, big(2, 1, false), 3)
	for _, c := range []struct {
		name, property string
		want           Outcome
	}{
		{"holds", "ltl often: [] <> get(IndexSpace, _)", Holds},
		{"holds under weakfair", "ltl often: [] <> get(IndexSpace, _) under weakfair", Holds},
		{"violated", "ltl never: [] <> get(TaskSpace, (2, _, _, _, _))", Violated},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := model(b, big(2, 1, false)+"---\n"+c.property+";\n", 3)
			var short, long spent
			for b.Loop() {
				short.add(b, func() { require.EqualValues(b, 354272, Check(b.Context(), safety, Options{}).States) })
				long.add(b, func() { require.Equal(b, c.want, Check(b.Context(), m, Options{}).Verdicts[0].Outcome) })
			}
			b.ReportMetric(long.elapsed.Seconds()/float64(b.N), "s")
			b.ReportMetric(long.elapsed.Seconds()/short.elapsed.Seconds(), "times-safety")
			b.ReportMetric(long.processor.Seconds()/short.processor.Seconds(), "times-safety-CPU")
		})
	}
}

// spent is time that several calls took.
type spent struct{ elapsed, processor time.Duration }

// add adds the time of a call.
func (s *spent) add(b *testing.B, call func()) {
	began, before := time.Now(), processorTime(b)
	call()
	s.elapsed += time.Since(began)
	s.processor += processorTime(b) - before
}

// processorTime returns the CPU time of this process so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
