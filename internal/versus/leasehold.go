package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// leasehold is a coordinator.
type leasehold struct {
	process       int
	program       string
	gate, journal string
	begun         int
	open          []space.Repository
}

// startLeasehold starts a coordinator of a program with a journal, and waits until it has written the address of its
// gate.
func startLeasehold(h *host, journal, program string) (peer, error) {
	dir, err := h.folder("leasehold")
	if err != nil {
		return nil, err
	}
	l := &leasehold{program: program, journal: journal}
	args := []string{"coordinator", "--data", dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--journal", journal}
	if journal == "postgres" {
		server, err := startPostgres(h)
		if err != nil {
			return nil, err
		}
		args = append(args, "--database", server.url)
	}
	l.process, err = h.run("", program, args...)
	if err != nil {
		return nil, err
	}
	return l, h.waitUntilStarted(func() error {
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

// dial opens a session over a connection of its own, which end closes.
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
	claimed         []task.ClaimedTask // with the results of the tasks before
}

// begin implements peer. It uses a new action, so that what an earlier measurement left is not
// counted. All slots share two sessions.
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
		slot := s
		turns = append(turns, slot.turn)
	}
	return turns, nil
}

// turn creates a batch, and claims its next tasks in the call that ends those before, as a
// worker does. The tasks that it claimed last are done by the next turn. Then it consumes a
// batch of results.
func (s *leaseholdSlot) turn() error {
	if _, err := s.creator.CreateAll(s.ctx, newTasks(s.action, s.batch)...); err != nil {
		return err
	}
	for done := 0; done < s.batch; {
		if len(s.claimed) == 0 {
			var err error
			if s.claimed, err = s.worker.ClaimUpTo(s.ctx, s.batch-done, s.action); err != nil {
				return err
			}
		}
		outcomes := make([]task.Outcome, len(s.claimed))
		for n, c := range s.claimed {
			outcomes[n] = task.ToResolve(c.Item, "", json.RawMessage(data))
		}
		ends, next, err := s.worker.Next(s.ctx, outcomes, s.batch, s.action)
		for _, end := range ends {
			err = errors.Join(err, end.Err)
		}
		if err != nil {
			return err
		}
		s.claimed, done = next, done+len(outcomes)
	}
	return s.consume()
}

// consume takes as many results as the slot has made: those that are there, or else it waits
// for one.
func (s *leaseholdSlot) consume() error {
	results, wanted := s.creator.Repo.Space(task.Result), task.AnyResult(s.action)
	for left := s.batch; left > 0; {
		if left > 1 {
			all, err := results.GetUpTo(s.ctx, wanted, left)
			if err != nil {
				return err
			}
			left -= len(all)
			if len(all) > 0 {
				continue
			}
		}
		if _, err := results.Get(s.ctx, wanted); err != nil {
			return err
		}
		left--
	}
	return nil
}

// end closes the sessions, up to the first error.
func (l *leasehold) end() error {
	for _, r := range l.open {
		if err := r.Close(context.Background()); err != nil {
			return err
		}
	}
	l.open = nil
	return nil
}

// once implements peer: creator and worker have a session each.
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
