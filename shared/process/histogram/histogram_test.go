package histogram_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/histogram"
)

func Example() {
	h := histogram.New(time.Second, time.Minute)
	h.Observe(2 * time.Second)
	fmt.Println(h.Snapshot().Count, h.Snapshot().Sum)
	// Output: 1 2s
}

func TestDurationsAreCountedUpToEachBound(t *testing.T) {
	t.Parallel()
	h := histogram.New(time.Second, time.Minute)
	for _, d := range []time.Duration{0, time.Second, time.Second + 1, time.Minute, time.Hour} {
		h.Observe(d)
	}
	require.Equal(t, histogram.Snapshot{
		Count: 5, Sum: time.Hour + time.Minute + 2*time.Second + 1,
		Buckets: map[time.Duration]uint64{time.Second: 2, time.Minute: 4},
	}, h.Snapshot())
}
