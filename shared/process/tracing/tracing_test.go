package tracing_test

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"leasehold/shared/process/tracing"
	"leasehold/shared/process/tracing/tracingtest"
)

func TestWithoutAnEndpointNothingIsTraced(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
	spans, err := tracing.Start(t.Context(), "worker", slog.Default())
	require.NoError(t, err)
	require.Nil(t, spans)
	ctx, end := spans.BeginAttempt(t.Context(), tracing.Attempt{Action: "resize"})
	require.Empty(t, tracing.Environment(ctx))
	end("failed", "x")
	spans.Close()
}

func TestARequestContinuesTheTraceOfItsCaller(t *testing.T) {
	c, spans := tracingtest.Start(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/tasks", nil)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	_, end := spans.BeginRequest(r, "/api/v1/tasks")
	end(http.StatusServiceUnavailable)
	spans.Close()
	require.Len(t, c.Spans(), 1)
	s := c.Spans()[0]
	require.Equal(t, "POST /api/v1/tasks", s.GetName())
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(s.GetTraceId()))
	require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(s.GetParentSpanId()))
	require.Equal(t, otlp.Status_STATUS_CODE_ERROR, s.GetStatus().GetCode())
}

func TestACommandGetsTheSpanOfItsAttempt(t *testing.T) {
	c, spans := tracingtest.Start(t)
	ctx, end := spans.BeginAttempt(t.Context(), tracing.Attempt{Action: "resize"})
	environment := tracing.Environment(ctx)
	end("done", "")
	spans.Close()
	s := c.Spans()[0]
	require.Equal(t, []string{"TRACEPARENT=00-" + hex.EncodeToString(s.GetTraceId()) + "-" + hex.EncodeToString(s.GetSpanId()) + "-01"}, environment)
}

func TestACollectorThatRefusesOrHangsStopsNothing(t *testing.T) {
	gone := make(chan struct{})
	for name, answer := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-gone:
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			collector := httptest.NewServer(answer)
			t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.URL+"/v1/traces")
			var log bytes.Buffer
			spans, err := tracing.Start(t.Context(), "worker", slog.New(slog.NewTextHandler(&log, nil)))
			require.NoError(t, err)
			began := time.Now()
			for range 10_000 { // more than the queue holds
				_, end := spans.BeginAttempt(t.Context(), tracing.Attempt{Action: "resize"})
				end("done", "")
			}
			require.Less(t, time.Since(began), 30*time.Second)
			began = time.Now()
			spans.Close()
			require.Less(t, time.Since(began), 30*time.Second)
			if name == "refuses" {
				require.Equal(t, 1, strings.Count(log.String(), "could not be sent"), "once a minute")
			}
		})
	}
	close(gone)
}
