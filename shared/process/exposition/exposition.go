// Package exposition writes metrics in the text format of Prometheus. Packages count in plain numbers, which are
// read at each scrape.
package exposition

import (
	"net/http"
	"runtime"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"leasehold/shared/process/build"
	"leasehold/shared/process/histogram"
)

// A Collector is a collector whose metrics are not known before they are read.
type Collector func(Sink)

// Describe describes nothing, because nothing is known.
func (Collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (c Collector) Collect(to chan<- prometheus.Metric) { c(to) }

// A Sink takes metrics. Labels are pairs of name and value.
type Sink chan<- prometheus.Metric

// Gauge writes a number that can fall.
func (to Sink) Gauge(name, help string, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(describe(name, help, labels), prometheus.GaugeValue, value)
}

// Counter writes a number that only grows.
func (to Sink) Counter(name, help string, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(describe(name, help, labels), prometheus.CounterValue, value)
}

// Histogram writes durations in seconds.
func (to Sink) Histogram(name, help string, h *histogram.Histogram, labels ...string) {
	s, upTo := h.Snapshot(), map[float64]uint64{}
	for bound, n := range s.Buckets {
		upTo[bound.Seconds()] = n
	}
	to.Distribution(name, help, s.Count, s.Sum.Seconds(), upTo, labels...)
}

// Distribution writes a histogram of any numbers: how many there are, their sum, and how many are at most each bound.
func (to Sink) Distribution(name, help string, count uint64, sum float64, upTo map[float64]uint64, labels ...string) {
	to <- prometheus.MustNewConstHistogram(describe(name, help, labels), count, sum, upTo)
}

// Mean writes how many numbers there are, and their sum.
func (to Sink) Mean(name, help string, count uint64, sum float64, labels ...string) {
	to <- prometheus.MustNewConstSummary(describe(name, help, labels), count, sum, nil)
}

// BuildInfo writes the version of the program.
func (to Sink) BuildInfo() {
	to.Gauge("leasehold_build_info", "This is always 1; the labels name the version of the program and of Go.", 1, "version", build.Version(), "go", runtime.Version())
}

// describe returns the description of a metric. It replaces bytes of values that are not UTF-8,
// because the client library panics if a value has any. labels are pairs of name and value.
func describe(name, help string, labels []string) *prometheus.Desc {
	pairs := prometheus.Labels{}
	for i := 0; i < len(labels); i += 2 {
		pairs[labels[i]] = strings.ToValidUTF8(labels[i+1], "?")
	}
	return prometheus.NewDesc(name, help, nil, pairs)
}

// NewRegistry returns a registry with the metrics of Go and of the process.
func NewRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Handler serves the metrics of some registries. Those that cannot be read are left out.
func Handler(all ...prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers(all), promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}
