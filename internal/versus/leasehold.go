package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/task"
)

// leasehold is a coordinator.
type leasehold struct {
	process       int
	program       string
	gate, journal string
	begun         int
	open          []space.Repository
}

// startLeasehold starts a coordinator of a program.
func startLeasehold(h *host, durable bool, program string) (peer, error) {
	dir, err := h.folder("leasehold")
	if err != nil {
		return nil, err
	}
	l := &leasehold{program: program, journal: map[bool]string{true: "pebble", false: "memory"}[durable]}
	l.process, err = h.run("", program, "coordinator", "--data", dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--journal", l.journal)
	if err != nil {
		return nil, err
	}
	return l, h.started(func() error {
		var at struct{ Gate string }
		announced, err := os.ReadFile(filepath.Join(dir, "coordinator.json"))
		if err == nil {
			err = json.Unmarshal(announced, &at)
		}
		l.gate = at.Gate
		return err
	})
}

func (l *leasehold) name() string { return filepath.Base(l.program) + ", " + l.journal }
func (l *leasehold) pid() int     { return l.process }

// dial opens a session.
func (l *leasehold) dial(ctx context.Context) (task.Client, error) {
	c, err := remote.Dial(ctx, remote.Config{Address: l.gate, Session: remote.SessionID("versus")})
	if err != nil {
		return task.Client{}, err
	}
	r := space.Over(c)
	l.open = append(l.open, r)
	return task.Client{Repo: r}, nil
}

// newTasks returns n tasks whose results are put as tuples.
func newTasks(action string, n int) (all []task.New) {
	t := models.Task{Action: action, Data: json.RawMessage(data), Timeout: 600, TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 600}}
	for range n {
		all = append(all, task.New{Task: t})
	}
	return all
}

// leaseholdSlot shares two sessions with the other slots.
type leaseholdSlot struct {
	ctx             context.Context
	creator, worker task.Client
	action          string
	batch           int
}

func (l *leasehold) begin(ctx context.Context, slots, batch int) (turns []func() error, err error) {
	l.begun++
	s := leaseholdSlot{ctx: ctx, action: fmt.Sprint("count-", l.begun), batch: batch}
	if s.creator, err = l.dial(ctx); err != nil {
		return nil, err
	}
	if s.worker, err = l.dial(ctx); err != nil {
		return nil, err
	}
	if _, err := s.creator.CreateAll(ctx, newTasks(s.action, backlog)...); err != nil {
		return nil, err
	}
	for range slots {
		turns = append(turns, s.turn)
	}
	return turns, nil
}

func (s leaseholdSlot) turn() error {
	if _, err := s.creator.CreateAll(s.ctx, newTasks(s.action, s.batch)...); err != nil {
		return err
	}
	for done := 0; done < s.batch; {
		tasks, err := s.worker.ClaimUpTo(s.ctx, s.batch-done, s.action)
		if err != nil {
			return err
		}
		done += len(tasks)
		if err := each(len(tasks), func(n int) error {
			_, err := s.worker.Resolve(s.ctx, tasks[n].Item, json.RawMessage(data))
			return err
		}); err != nil {
			return err
		}
	}
	result := task.AnyResult(s.action)
	return each(s.batch, func(int) error {
		_, err := s.creator.Repo.Space(task.Result).Get(s.ctx, result)
		return err
	})
}

// each calls f for 0 to n-1, eight at a time.
func each(n int, f func(n int) error) error {
	if n == 1 {
		return f(0)
	}
	next, failed := make(chan int), make(chan error, n)
	var running sync.WaitGroup
	for range min(n, 8) {
		running.Go(func() {
			for k := range next {
				if err := f(k); err != nil {
					failed <- err
				}
			}
		})
	}
	for k := range n {
		next <- k
	}
	close(next)
	running.Wait()
	close(failed)
	return <-failed
}

func (l *leasehold) end() error {
	for _, r := range l.open {
		if err := r.Close(context.Background()); err != nil {
			return err
		}
	}
	l.open = nil
	return nil
}

func (l *leasehold) once(ctx context.Context) (func() (time.Duration, error), error) {
	creator, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	worker, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	return claimOnce(func() error {
		_, err := worker.Claim(ctx, "once")
		return err
	}, func() error {
		_, err := creator.CreateAll(ctx, newTasks("once", 1)...)
		return err
	}), nil
}
