// Package bots is a game whose procedures create tasks and whose bots claim them. One task is
// done, one fails, and one is claimed by a bot that hangs: its claim ends, the bot starts again
// as a new process, and does the task then.
package bots

import (
	"context"
	"time"

	"leasehold/examples/course"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	timeout = 50 * time.Millisecond
	tasks   = 3
)

// Program has a game and a bot.
var Program = course.Program{
	Spaces: map[string]space.Options{"task": {}, "report": {}},
	Procedures: space.Procedures{
		"game.create": space.WithArgs(tuple.Match(), create),
		"bot.claim":   space.WithArgs(tuple.Match(), claim),
		"bot.report":  space.WithArgs(tuple.Match(tuple.AnyInt64, tuple.AnyString), report),
	},
	Roles: []course.Role{{Name: "game", Run: play}, {Name: "bot", Endless: true, Run: work}},
}

var order = tuple.Match(tuple.AnyInt64, tuple.AnyString)

// create puts all tasks, or none: after an error the transaction is taken back.
func create(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	for i, what := range []string{"walk", "fly", "sleep"} {
		if _, err := tx.Put("task", tuple.New(int64(i+1), what), space.PutOptions{}); err != nil {
			return nil, err
		}
	}
	return tuple.New(), nil
}

// claim holds the oldest task for the caller, until the timeout, after which another may claim it. Without a task
// it waits.
func claim(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	t, found := tx.Find("task", order, nil)
	if !found {
		return nil, tx.Wait(space.Awaited{Space: "task", Template: order})
	}
	return t.Tuple, tx.Hold(t.Ref, space.HoldOptions{TTL: timeout})
}

// report (number, outcome) ends the task if the caller holds it; else, for example after the task
// went to another process, it changes nothing and returns no error.
func report(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	for _, t := range tx.Held("task", tuple.Match(args.Int64(0), tuple.AnyString)) {
		if t.Holder == tx.Caller() {
			if err := tx.Done(t.Ref); err != nil {
				return nil, err
			}
			_, err := tx.Put("report", args, space.PutOptions{})
			return tuple.New(), err
		}
	}
	return tuple.New(), nil
}

// play creates the game, and prints the reports of its tasks in the order in which they come.
func play(ctx context.Context, m *course.Member) error {
	if _, err := m.Call(ctx, space.OpID{}, "game.create", tuple.New()); err != nil {
		return err
	}
	for range tasks {
		r, err := m.Space("report").Get(ctx, order)
		if err != nil {
			return err
		}
		m.Print("task %d: %s", r.Int64(0), r.Str(1))
	}
	return nil
}

// work claims tasks until ctx ends. The first process of the bot hangs in a task to sleep and never reports, so
// that the second gets it.
func work(ctx context.Context, m *course.Member) error {
	for {
		t, err := m.Call(ctx, space.OpID{}, "bot.claim", tuple.New())
		if err != nil {
			return err
		}
		outcome := map[string]string{"walk": "done", "fly": "failed: no wings", "sleep": "done after a restart"}[t.Str(1)]
		if t.Str(1) == "sleep" && m.Number == 1 {
			if m, err = m.Again(ctx, 2); err != nil {
				return err
			}
			continue
		}
		if _, err := m.Call(ctx, space.OpID{}, "bot.report", tuple.New(t.Int64(0), outcome)); err != nil {
			return err
		}
	}
}
