// Package tracing sends spans of OpenTelemetry to a collector, by OTLP over HTTP. It does so only if the environment
// names an endpoint; the SDK reads the other standard variables. A collector that does not answer never slows or stops
// its process: spans that do not fit the queue are dropped.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"leasehold/shared/process/build"
)

const (
	closeTimeout = 3 * time.Second // for the last spans
	logInterval  = time.Minute     // between two warnings
)

// Variable is the environment variable that names the span of an attempt to its command.
const Variable = "TRACEPARENT"

// header is the name of the header of W3C Trace Context.
const header = "traceparent"

// Spans are the spans of one process. A nil Spans makes none.
type Spans struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Start returns the spans of a process of a mode, or nil if the environment names no endpoint. The caller closes them.
func Start(ctx context.Context, mode string, log *slog.Logger) (*Spans, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	process := resource.NewSchemaless(attribute.String("service.name", "leasehold-"+mode), attribute.String("service.version", build.Version()))
	if process, err = resource.Merge(process, resource.Environment()); err != nil { // the environment wins
		return nil, fmt.Errorf("tracing: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(process), sdk.WithBatcher(&quietExporter{SpanExporter: exporter, log: log}))
	return &Spans{provider, provider.Tracer("leasehold")}, nil
}

// Close sends the last spans, for at most closeTimeout. Spans that are then left are lost.
func (s *Spans) Close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = s.provider.Shutdown(ctx) // quietExporter has logged the error
}

// An Attempt is one attempt of a task.
type Attempt struct {
	Action, Task, Session string
	Number                int64
	Parent                string // the span that created the task, as Parent returned it; empty: the attempt begins a trace
}

// BeginAttempt begins the span of an attempt. The caller calls end with its outcome, and with a text if it failed. Without
// spans the context has the span that created the task.
func (s *Spans) BeginAttempt(ctx context.Context, a Attempt) (_ context.Context, end func(outcome, problem string)) {
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: a.Parent})
	if s == nil {
		return ctx, func(string, string) {}
	}
	ctx, span := s.tracer.Start(ctx, a.Action, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("leasehold.task", a.Task), attribute.Int64("leasehold.attempt", a.Number), attribute.String("leasehold.session", a.Session)))
	return ctx, func(outcome, problem string) {
		span.SetAttributes(attribute.String("leasehold.outcome", outcome))
		if problem != "" {
			span.SetStatus(codes.Error, problem)
		}
		span.End()
	}
}

// BeginRequest begins the span of a request of a route. It is a child of the span that the request names in the header
// traceparent, if any; without spans the context has that one. The caller calls end with the status of the answer.
func (s *Spans) BeginRequest(r *http.Request, route string) (_ context.Context, end func(status int)) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	if s == nil {
		return ctx, func(int) {}
	}
	ctx, span := s.tracer.Start(ctx, r.Method+" "+route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.route", route)))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Parent returns the span of ctx as the header traceparent names it, for what goes on elsewhere; empty if ctx has none.
func Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Environment returns Variable with the span of ctx, for a command; nil if ctx has none.
func Environment(ctx context.Context) []string {
	if parent := Parent(ctx); parent != "" {
		return []string{Variable + "=" + parent}
	}
	return nil
}

// quietExporter logs errors itself, at most once in logInterval, because the SDK writes each to standard error.
type quietExporter struct {
	sdk.SpanExporter
	log *slog.Logger

	mu     sync.Mutex // guards logged
	logged time.Time
}

// ExportSpans sends spans. Its error is always nil.
func (e *quietExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil || errors.Is(err, context.Canceled) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); e.logged.IsZero() || now.Sub(e.logged) >= logInterval {
		e.logged = now
		e.log.Warn("tracing: spans could not be sent", "spans", len(spans), "error", err)
	}
	return nil
}
