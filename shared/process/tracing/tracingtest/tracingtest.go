// Package tracingtest receives spans as a collector does, for tests.
package tracingtest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"leasehold/shared/process/tracing"
)

// Collector keeps the spans that it receives. Its methods may be called concurrently.
type Collector struct {
	mu    sync.Mutex // guards spans
	spans []*otlp.Span
}

// Start returns a collector and the spans of a process that sends to it. The test must not run in parallel, because this
// sets an environment variable. The test closes the spans before it reads the collector.
func Start(t *testing.T) (*Collector, *tracing.Spans) {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if r.URL.Path != "/v1/traces" || err != nil || proto.Unmarshal(body, &sent) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	spans, err := tracing.Start(t.Context(), "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NotNil(t, spans)
	t.Cleanup(spans.Close)
	return c, spans
}

// Spans returns what was received.
func (c *Collector) Spans() []*otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// Attributes returns the attributes of a span that are texts.
func Attributes(s *otlp.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.GetAttributes() {
		if text := a.GetValue().GetStringValue(); text != "" {
			all[a.GetKey()] = text
		}
	}
	return all
}
