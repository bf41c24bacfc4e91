// Package supervisor runs the goroutines of a process, and ends them in an order in
// which each can still use what it depends on.
//
// All runs tasks of equal rank: when one returns, the others are cancelled. Host runs
// one task that others depend on, such as a coordinator and its workers: the host is
// cancelled after its dependents have returned, because they hand back what they hold
// when they end. A Stack closes resources, the last opened first.
//
// No function returns before every goroutine that it started has returned. Errors are
// joined; the package logs nothing, recovers no panic and restarts nothing.
package supervisor

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// A Task works until it is done, it fails or its context ends.
type Task = func(context.Context) error

// All runs tasks until all have returned, and joins their errors. When the first
// returns, with or without an error, the context of the others is cancelled.
func All(ctx context.Context, tasks ...Task) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(tasks))
	var running sync.WaitGroup
	for i, task := range tasks {
		running.Go(func() {
			errs[i] = task(ctx)
			cancel()
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// Host runs host and, once host has called ready, main with helpers beside it. The
// dependents (main and helpers) are cancelled when main returns, a helper returns an
// error, host returns or ctx ends. A helper that returns nil ends nothing. The context
// of host is cancelled after all dependents have returned; the end of ctx alone does not
// cancel it. If host returns before it is ready, the dependents are not started. Host
// must call ready at most once.
func Host(ctx context.Context, host func(ctx context.Context, ready func()) error, main Task, helpers ...Task) error {
	hostCtx, stopHost := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHost()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var hostErr error
	var hosting sync.WaitGroup
	ready := make(chan struct{})
	hosting.Go(func() {
		hostErr = host(hostCtx, func() { close(ready) })
		stop()
	})
	var err error
	select {
	case <-ready:
		err = runDependents(ctx, stop, main, helpers)
	case <-ctx.Done():
	}
	stopHost()
	hosting.Wait()
	return errors.Join(err, hostErr)
}

// runDependents runs main and helpers until all have returned. It calls stop when main
// returns or a helper fails.
func runDependents(ctx context.Context, stop func(), main Task, helpers []Task) error {
	errs := make([]error, len(helpers)+1)
	var running sync.WaitGroup
	for i, helper := range helpers {
		running.Go(func() {
			if errs[i+1] = helper(ctx); errs[i+1] != nil {
				stop()
			}
		})
	}
	errs[0] = main(ctx)
	stop()
	running.Wait()
	return errors.Join(errs...)
}

// A Stack closes resources in the reverse order of their opening. Its zero value is
// empty. It must not be used concurrently.
type Stack struct{ closers []func() error }

// Push adds what closes a resource.
func (s *Stack) Push(closer func() error) { s.closers = append(s.closers, closer) }

// Close closes everything that was pushed, also after an error, and joins the errors.
// The stack is empty afterwards.
func (s *Stack) Close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	s.closers = nil
	return errors.Join(errs...)
}
