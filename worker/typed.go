package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"leasehold/shared/fault"
)

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, job Job) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, job Job) error { return f(ctx, job) }

// Task is a claimed task whose data was decoded into D.
type Task[D any] struct {
	Job
	Data D
}

// Handle returns a handler that decodes the data of a task from JSON, calls f, and resolves the
// task with the result of f as JSON. The type of an error decides what happens to the task:
//
//	GiveUp(err)        no worker can do it: it is a dead letter at once
//	Later(delay, err)  not now: it is offered again after the delay, and no attempt is counted
//	any other          the attempt failed, and another worker may try
//
// Data that cannot be decoded is given up. A task without data has the zero D.
func Handle[D, R any](f func(ctx context.Context, t Task[D]) (R, error)) Handler {
	return HandleParts(func(ctx context.Context, t Task[D]) error {
		result, err := f(ctx, t)
		if err != nil {
			return err
		}
		return t.Resolve(ctx, "", result)
	})
}

// HandleParts is Handle for a function that puts several results: it calls Report for each,
// and Resolve for the last.
func HandleParts[D any](f func(ctx context.Context, t Task[D]) error) Handler {
	return HandlerFunc(func(ctx context.Context, job Job) error {
		t := Task[D]{Job: job}
		if data := bytes.TrimSpace(job.Task().Data); len(data) > 0 {
			if err := json.Unmarshal(data, &t.Data); err != nil {
				return GiveUp(fmt.Errorf("data of task %s: %w: %w", job.Task().ID, fault.ErrInvalid, err))
			}
		}
		return f(ctx, t)
	})
}

// GiveUp returns an error of a handler after which no worker tries again.
func GiveUp(err error) error { return &Failure{Err: err, GiveUp: true} }

// Later returns an error of a handler after which the task is offered again when a delay is
// over, or after ten years if that is sooner. The attempt does not count.
func Later(delay time.Duration, err error) error { return &Failure{Err: err, Later: delay} }

// Middleware wraps the handlers of all actions, for logs, metrics or traces.
type Middleware func(Handler) Handler

// Wrap returns a handler with middleware around it, the first outermost.
func Wrap(h Handler, all ...Middleware) Handler {
	for n := len(all) - 1; n >= 0; n-- {
		h = all[n](h)
	}
	return h
}

// Measure calls observe after each attempt, also if the handler panics; then err is nil.
func Measure(observe func(action string, took time.Duration, err error)) Middleware {
	return func(h Handler) Handler {
		return HandlerFunc(func(ctx context.Context, job Job) (err error) {
			began := time.Now()
			defer func() { observe(job.Task().Action, time.Since(began), err) }()
			return h.Handle(ctx, job)
		})
	}
}

// Log returns a middleware that logs each task that a handler resolved. The worker itself logs
// those that failed, so the error is only passed on.
func Log(log *slog.Logger) Middleware {
	return func(h Handler) Handler {
		return HandlerFunc(func(ctx context.Context, job Job) error {
			began := time.Now()
			err := h.Handle(ctx, job)
			if t := job.Task(); err == nil {
				log.Info("worker: task done", "task", t.ID, "action", t.Action, "subject", t.Subject, "took", time.Since(began))
			}
			return err
		})
	}
}
