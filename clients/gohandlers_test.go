package clients

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/worker"
)

// handlers does tasks with the package worker, as their data demand.
type handlers struct {
	event func(kind, id string)

	mu      sync.Mutex // guards the fields below
	later   map[string]bool
	running int
	all     chan struct{} // closed once as many tasks of together run as they want
}

// asked is the data of a task.
type asked struct {
	Do    string
	N     int
	Value json.RawMessage
}

// work works with a gate until ctx ends.
func (h *handlers) work(ctx context.Context, gate string, l line) error {
	h.later, h.all = map[string]bool{}, make(chan struct{})
	connect := func(ctx context.Context) (space.Repository, error) {
		conn, err := remote.Dial(ctx, remote.Config{Address: gate, Mode: "worker", Name: l.Action, Session: remote.SessionID("worker"), TTL: seconds(l.TTL)})
		if err != nil {
			return nil, err
		}
		return space.Over(conn), nil
	}
	return worker.Run(ctx, connect, worker.Config{
		Handlers: map[string]worker.Handler{l.Action: worker.Handle(h.handle)},
		Slots:    l.Concurrency, Heartbeat: seconds(l.TTL) / 3, Drain: seconds(l.Drain), Grace: 10 * time.Second,
	})
}

func (h *handlers) handle(ctx context.Context, t worker.Task[asked]) (any, error) {
	id := t.Task().ID
	h.event("started", id)
	switch t.Data.Do {
	case "double":
		return 2 * t.Data.N, nil
	case "echo":
		return t.Data.Value, nil
	case "large": // N bytes of JSON
		return strings.Repeat("x", t.Data.N-2), nil
	case "together": // wait until N tasks are worked on at once
		h.mu.Lock()
		if h.running++; h.running == t.Data.N {
			close(h.all)
		}
		h.mu.Unlock()
		select {
		case <-h.all:
			return "together", nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "slow": // longer than the session's TTL
		err := t.Note(ctx, models.Progress{Fraction: 0.5, Text: "slow"})
		<-time.After(1600 * time.Millisecond)
		return "done", err
	case "wait":
		<-time.After(time.Duration(t.Data.N) * time.Millisecond)
		return "waited", nil
	case "finish":
		<-t.Draining()
		return "finished", nil
	case "stuck":
		<-ctx.Done()
		h.event("stopped", id)
		return nil, ctx.Err()
	}
	return h.fail(t.Data.Do, id)
}

// fail ends an attempt in another way than by a result.
func (h *handlers) fail(do, id string) (any, error) {
	switch do {
	case "fail":
		return nil, errors.New("broken")
	case "exit":
		panic("leave")
	case "unsendable":
		return func() {}, nil
	case "never":
		return nil, worker.Later(-time.Second, errors.New("not now"))
	case "shout":
		return nil, errors.New(strings.Repeat("x", 2<<20))
	case "hopeless":
		return nil, &worker.Failure{Err: errors.New("no"), GiveUp: true, Output: "a note\n"}
	case "giveup":
		return nil, worker.GiveUp(errors.New("never"))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.later[id] {
		return do, nil
	}
	h.later[id] = true
	return nil, worker.Later(100*time.Millisecond, errors.New("not now"))
}
