package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// errDeadlock reports that no philosopher can eat.
var errDeadlock = errors.New("deadlock")

// dinner has as many forks as seats. Fork i is at the right of philosopher i.
type dinner struct {
	seats, rounds int
	tickets       bool
	pause         time.Duration // between the first fork and the second
	mealTimeout   time.Duration // time without a meal that counts as a deadlock
	log           *trace.Writer // may be nil
}

// run runs all philosophers and returns the number of meals. It ends all goroutines before it returns.
func (d dinner) run(ctx context.Context) (meals int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := engine.Config{Journal: &journal.Memory{}}
	if d.log != nil {
		c.Trace = d.log.Write
	}
	spaces, err := engine.Open(ctx, c)
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = spaces.Run(ctx) }) // it returns when ctx ends
	if err := d.putForks(ctx, spaces); err != nil {
		return 0, err
	}
	eaten, ended := make(chan struct{}), make(chan error, d.seats)
	for i := range d.seats {
		all.Go(func() { ended <- d.philosophise(ctx, spaces, i+1, eaten) })
	}
	return d.watch(eaten, ended)
}

// putForks puts the forks and, if tickets are used, one ticket fewer, so that not all philosophers can hold one
// fork each.
func (d dinner) putForks(ctx context.Context, spaces *engine.Engine) error {
	table, err := spaces.Session(ctx, "table-1", 0)
	if err != nil {
		return err
	}
	if err := errors.Join(table.Create(ctx, "Fork", space.Options{}), table.Create(ctx, "Ticket", space.Options{})); err != nil {
		return err
	}
	for i := range d.seats {
		if err := table.Space("Fork").Put(ctx, tuple.New(int64(i+1)), 0); err != nil {
			return err
		}
		if d.tickets && i > 0 {
			if err := table.Space("Ticket").Put(ctx, tuple.New(int64(0)), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// philosophise runs one philosopher for all rounds. It sends to eaten after each meal.
func (d dinner) philosophise(ctx context.Context, spaces *engine.Engine, i int, eaten chan<- struct{}) error {
	me, err := spaces.Session(ctx, fmt.Sprintf("philosopher-%d", i), 0)
	if err != nil {
		return err
	}
	fork, ticket := me.Space("Fork"), me.Space("Ticket")
	right, left := int64(i), int64(i%d.seats+1)
	for range d.rounds {
		if d.tickets {
			if _, err := ticket.Get(ctx, tuple.Match(int64(0))); err != nil {
				return err
			}
		}
		if err := eat(ctx, fork, right, left, d.pause); err != nil {
			return err
		}
		if d.tickets {
			if err := ticket.Put(ctx, tuple.New(int64(0)), 0); err != nil {
				return err
			}
		}
		select {
		case eaten <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// eat takes the first fork, pauses, takes the second, and puts both back. It waits for a fork that another
// philosopher has; without tickets that can be for ever.
func eat(ctx context.Context, fork space.Space, right, left int64, pause time.Duration) error {
	if _, err := fork.Get(ctx, tuple.Match(right)); err != nil {
		return err
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, err := fork.Get(ctx, tuple.Match(left)); err != nil {
		return err
	}
	return errors.Join(fork.Put(ctx, tuple.New(right), 0), fork.Put(ctx, tuple.New(left), 0))
}

// watch counts meals until all philosophers have ended, or until none has eaten for mealTimeout,
// which is errDeadlock. The error of a philosopher ends it too.
func (d dinner) watch(eaten <-chan struct{}, ended <-chan error) (meals int, err error) {
	timer := time.NewTimer(d.mealTimeout)
	defer timer.Stop()
	for left := d.seats; left > 0; {
		select {
		case <-eaten:
			meals++
			timer.Reset(d.mealTimeout)
		case err := <-ended:
			if err != nil {
				return meals, err
			}
			left--
		case <-timer.C:
			return meals, fmt.Errorf("%w: no meal for %s, and %d philosophers are not done", errDeadlock, d.mealTimeout, left)
		}
	}
	return meals, nil
}
