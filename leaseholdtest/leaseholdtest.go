// Package leaseholdtest runs a coordinator of tasks in memory, for the tests of programs that
// create tasks or do them (package worker).
//
//	tasks := leaseholdtest.Start(t).Tasks()
//
// It has the procedures of tasks, leases and sessions, with the same behaviour as a coordinator: timeouts,
// back-off, dead letters, limits. In testing/synctest it uses the fake time of the bubble. It has no gate, no
// HTTP API, no catalog and no schedules.
package leaseholdtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// Policy is the default policy of a coordinator.
var Policy = task.Policy{MaxAttempts: 3, Backoff: 30 * time.Second}

// sessionTTL is how long a session lives without a heartbeat, as by default.
const sessionTTL = 6 * time.Second

// Coordinator is a coordinator in memory. Its methods may be called concurrently.
type Coordinator struct {
	engine *engine.Engine
	tasks  task.Client
	opened atomic.Int64
	stop   func() error
}

// Open starts a coordinator. Close must be called, unless there is an error.
func Open() (*Coordinator, error) {
	ctx := context.Background()
	e, err := engine.Open(ctx, engine.Config{
		Journal: &journal.Memory{}, Readers: task.Readers(), Takes: task.Takes(), QueryOnly: space.QueryOnly(definitions()), PutChecks: space.PutChecks(definitions()), Reserving: space.Reserving(definitions()), ShareBy: space.ShareBy(definitions()),
		Procedures: space.Join(status.GuardedProcedures(task.Holds), lease.Procedures(), Policy.Procedures(), Policy.AdminProcedures(), browse.Procedures()),
	})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- e.Run(running) }()
	c := &Coordinator{engine: e, stop: func() error { stop(); return <-done }}
	if err := c.createSpaces(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// definitions returns the spaces of the protocols.
func definitions() []space.Definition {
	return slices.Concat(status.Spaces(), lease.Spaces(), task.Spaces())
}

// createSpaces opens the session of Tasks and creates the spaces of the protocols.
func (c *Coordinator) createSpaces(ctx context.Context) error {
	repo, err := c.engine.Session(ctx, "test", 0)
	if err != nil {
		return err
	}
	c.tasks = task.Client{Repo: repo}
	for _, d := range definitions() {
		if err := repo.Create(ctx, d.Name, d.Options); err != nil {
			return err
		}
	}
	return nil
}

// Start starts a coordinator that ends with the test. An error of either fails the test.
func Start(t testing.TB) *Coordinator {
	t.Helper()
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Close ends the coordinator. Its calls return fault.ErrClosed from then on.
func (c *Coordinator) Close() error { return c.stop() }

// Tasks returns a client of a session that never ends.
func (c *Coordinator) Tasks() task.Client { return c.tasks }

// Connect opens a session of a worker, which is lost after 6 s without a heartbeat. It is what
// worker.Run needs.
func (c *Coordinator) Connect(ctx context.Context) (space.Repository, error) {
	return c.engine.Session(ctx, fmt.Sprintf("worker-%d", c.opened.Add(1)), sessionTTL)
}
