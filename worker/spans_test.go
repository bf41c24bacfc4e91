package worker_test

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"leasehold/models"
	"leasehold/shared/process/tracing/tracingtest"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/worker"
)

func TestEachAttemptIsASpan(t *testing.T) {
	c, spans := tracingtest.Start(t)
	policy := task.Policy{MaxAttempts: 3, Backoff: time.Millisecond}
	e, err := engine.Open(t.Context(), engine.Config{
		Journal: &journal.Memory{}, Procedures: space.Join(status.Procedures(), policy.Procedures(), policy.AdminProcedures()),
	})
	require.NoError(t, err)
	running, stopEngine := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- e.Run(running) }()
	defer func() { stopEngine(); require.NoError(t, <-ended) }()
	repo, err := e.Session(t.Context(), "test-1", 0)
	require.NoError(t, err)
	for _, defs := range [][]space.Definition{status.Spaces(), lease.Spaces(), task.Spaces()} {
		for _, d := range defs {
			require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
		}
	}
	created, err := task.Client{Repo: repo}.Create(t.Context(), models.Task{Action: "act", Subject: "s", Timeout: 60, TaskOptions: models.TaskOptions{Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}, 0)
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	attempts := 0
	handler := worker.HandlerFunc(func(ctx context.Context, job worker.Job) error {
		if attempts++; attempts == 1 {
			return errors.New("no disk at https://user:secret@example.org/")
		}
		defer stop()
		return job.Resolve(ctx, "", nil)
	})
	require.NoError(t, worker.Run(ctx, func(ctx context.Context) (space.Repository, error) {
		return e.Session(ctx, "worker-1", time.Minute)
	}, worker.Config{
		Handlers: map[string]worker.Handler{"act": handler}, Slots: 1, Heartbeat: time.Second, Drain: time.Second, Grace: time.Second,
		Spans: spans, Log: slog.New(slog.DiscardHandler),
	}))
	spans.Close()

	all := c.Spans()
	require.Len(t, all, 2)
	for n, outcome := range []string{"failed", "done"} {
		require.Equal(t, "act", all[n].GetName())
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(all[n].GetTraceId()), "each attempt belongs to the trace in which the task was created")
		require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(all[n].GetParentSpanId()))
		require.Equal(t, map[string]string{"leasehold.task": created.ID, "leasehold.session": "worker-1", "leasehold.outcome": outcome}, tracingtest.Attributes(all[n]))
		require.EqualValues(t, n+1, all[n].GetAttributes()[1].GetValue().GetIntValue())
	}
	require.Equal(t, otlp.Status_STATUS_CODE_ERROR, all[0].GetStatus().GetCode())
	require.Contains(t, all[0].GetStatus().GetMessage(), "no disk")
	require.NotContains(t, all[0].GetStatus().GetMessage(), "secret")
}
