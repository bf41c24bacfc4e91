package exposition_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"leasehold/shared/process/exposition"
	"leasehold/shared/process/histogram"
)

// scrape returns the lines of the metrics of a registry, without comments.
func scrape(r prometheus.Gatherer) (lines []string) {
	w := httptest.NewRecorder()
	exposition.Handler(r).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func ExampleCollector() {
	r := prometheus.NewRegistry()
	r.MustRegister(exposition.Collector(func(to exposition.Sink) { to.Gauge("fish", "This is the number of fish.", 2, "pond", "north") }))
	fmt.Println(scrape(r)[0])
	// Output: fish{pond="north"} 2
}

func TestEachKindOfMetricIsWritten(t *testing.T) {
	t.Parallel()
	h := histogram.New(time.Second)
	h.Observe(1500 * time.Millisecond)
	r := prometheus.NewRegistry()
	r.MustRegister(exposition.Collector(func(to exposition.Sink) {
		to.Counter("c_total", "x", 1, "a", "\xff")
		to.Histogram("h", "x", h)
		to.Mean("m", "x", 2, 3)
		to.BuildInfo()
	}))
	lines := scrape(r)
	require.Subset(t, lines, []string{`c_total{a="?"} 1`, `h_bucket{le="1"} 0`, `h_bucket{le="+Inf"} 1`, "h_sum 1.5", "h_count 1", "m_sum 3", "m_count 2"})
	require.Contains(t, strings.Join(lines, "\n"), "leasehold_build_info{")
	require.Contains(t, strings.Join(scrape(exposition.NewRegistry()), "\n"), "go_goroutines ")
}
