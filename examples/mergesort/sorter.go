package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// sorter sorts once.
type sorter struct {
	workers, dead, slow int
	lease               time.Duration
	log                 *trace.Writer // may be nil
	late                atomic.Int64  // merges that were refused
}

// sort returns the numbers in order. The workers that fail take their runs before the others start. It waits for
// the refusals of the late ones, which are counted, and for all goroutines.
func (s *sorter) sort(ctx context.Context, numbers []int) (sorted []int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := engine.Config{Journal: &journal.Memory{}, Procedures: procedures(s.lease)}
	if s.log != nil {
		c.Trace = s.log.Write
	}
	spaces, err := engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = spaces.Run(ctx) }) // it returns when ctx ends
	main, err := spaces.Session(ctx, "main-1", 0)
	if err != nil {
		return nil, err
	}
	if err := putRuns(ctx, main, numbers); err != nil {
		return nil, err
	}
	var slow sync.WaitGroup
	if err := s.startFailing(ctx, spaces, &slow); err != nil {
		return nil, err
	}
	for i := range s.workers {
		repo, err := spaces.Session(ctx, fmt.Sprintf("worker-%d", s.dead+s.slow+i+1), 0)
		if err != nil {
			return nil, err
		}
		all.Go(func() { s.work(ctx, repo) })
	}
	t, err := main.Space(runs).Query(ctx, tuple.Match("run", int64(len(numbers)), tuple.AnyString))
	if err != nil {
		stop()
	}
	slow.Wait()
	if err != nil {
		return nil, err
	}
	return sorted, json.Unmarshal([]byte(decodeRun(t).Numbers), &sorted)
}

// putRuns makes the space of runs and puts each number as a run of length one.
func putRuns(ctx context.Context, main space.Repository, numbers []int) error {
	if err := main.Create(ctx, runs, space.Options{}); err != nil {
		return err
	}
	for _, n := range numbers {
		if err := main.Space(runs).Put(ctx, sortedRun{1, fmt.Sprintf("[%d]", n)}.encode(), 0); err != nil {
			return err
		}
	}
	return nil
}

// startFailing starts the workers that die or are late, after each has taken two runs. One that
// dies makes no further calls, so its lease ends; a late one merges after its lease, and is
// refused.
func (s *sorter) startFailing(ctx context.Context, spaces *engine.Engine, slow *sync.WaitGroup) error {
	for i := range s.dead + s.slow {
		repo, err := spaces.Session(ctx, fmt.Sprintf("worker-%d", i+1), 0)
		if err != nil {
			return err
		}
		pair, err := takeTwo(ctx, repo)
		if err != nil {
			return err
		}
		if i < s.dead {
			continue
		}
		slow.Go(func() {
			select {
			case <-time.After(2 * s.lease):
				_ = s.mergeTwo(ctx, repo, pair) // the merge is refused
			case <-ctx.Done():
			}
		})
	}
	return nil
}

// work merges two runs at a time, until ctx ends.
func (s *sorter) work(ctx context.Context, repo space.Repository) {
	for {
		pair, err := takeTwo(ctx, repo)
		if err != nil || s.mergeTwo(ctx, repo, pair) != nil {
			return
		}
	}
}

// takeTwo waits for two runs, and takes them under a lease.
func takeTwo(ctx context.Context, repo space.Repository) (pair, error) {
	t, err := repo.Call(ctx, space.OpID{}, "sort.take", tuple.New())
	return decodePair(t), err
}

// mergeTwo merges two runs. If the lease of the runs has ended, the merge is refused, which is counted and is not
// an error.
func (s *sorter) mergeTwo(ctx context.Context, repo space.Repository, p pair) error {
	numbers, err := merged(p.First, p.Second)
	if err != nil {
		return err
	}
	body, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	_, err = repo.Call(ctx, space.OpID{}, "sort.merge", mergeArgs{[2]int64{p.FirstRef, p.SecondRef}, sortedRun{int64(len(numbers)), string(body)}}.encode())
	if errors.Is(err, fault.ErrStaleToken) {
		s.late.Add(1)
		return nil
	}
	return err
}

// merged merges two sorted runs, which are JSON lists.
func merged(one, other string) ([]int, error) {
	var a, b, all []int
	if err := errors.Join(json.Unmarshal([]byte(one), &a), json.Unmarshal([]byte(other), &b)); err != nil {
		return nil, err
	}
	for len(a) > 0 && len(b) > 0 {
		if b[0] < a[0] {
			a, b = b, a
		}
		all, a = append(all, a[0]), a[1:]
	}
	return append(append(all, a...), b...), nil
}
