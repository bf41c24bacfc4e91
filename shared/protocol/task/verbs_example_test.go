package task_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/leaseholdtest"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
)

// open returns a client of a coordinator in memory with two waiting tasks of the action dig.
func open() (task.Client, context.Context, func() error) {
	c, _ := leaseholdtest.Open()
	ctx := context.Background()
	for range 2 {
		_, _ = c.Tasks().Create(ctx, models.Task{Action: "dig", Timeout: 60}, 0)
	}
	return c.Tasks(), ctx, c.Close
}

func ExampleClient_CreateAll() {
	tasks, ctx, stop := open()
	defer stop()
	all, err := tasks.CreateAll(ctx,
		task.New{Ref: "load", Task: models.Task{Action: "load", Timeout: 60, Data: []byte(`{"day": 3}`)}},
		task.New{Task: models.Task{Action: "report", Timeout: 60, TaskOptions: models.TaskOptions{After: []string{"load"}}}},
	)
	for _, i := range all {
		fmt.Println(i.Action, i.StateNow())
	}
	fmt.Println(err)
	// Output:
	// load waiting
	// report blocked
	// <nil>
}

func ExampleClient_Claim() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig", "bury") // waits for a task of either action
	fmt.Println(i.Action, i.CurrentClaimant)
	// Output: dig test
}

func ExampleClient_Extend() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	fmt.Println(tasks.Extend(ctx, i)) // another 60 s
	_ = tasks.HandBack(ctx, i)
	fmt.Println(errors.Is(tasks.Extend(ctx, i), fault.ErrStaleToken))
	// Output:
	// <nil>
	// true
}

func ExampleClient_Note() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	_ = tasks.Note(ctx, i, models.Progress{Fraction: 0.5, Text: "a metre deep"})
	l, _ := tasks.Show(ctx, i.ID)
	fmt.Println(l.Progress.Fraction, l.Progress.Text)
	// Output: 0.5 a metre deep
}

func ExampleClient_Fail() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	_ = tasks.Fail(ctx, i, task.Failure{Reason: "rock", Delay: time.Minute})
	l, _ := tasks.Show(ctx, i.ID)
	fmt.Println(l.Attempts, l.History[0].Error, l.Why.Code)
	// Output: 1 rock back_off
}

func ExampleClient_HandBack() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	_ = tasks.HandBack(ctx, i)
	l, _ := tasks.Show(ctx, i.ID)
	fmt.Println(l.StateNow(), l.Attempts)
	// Output: waiting 0
}

func ExampleClient_Resolve() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	// The next task is created in the same transaction.
	next, err := tasks.Resolve(ctx, i, map[string]int{"coins": 3}, task.New{Task: models.Task{Action: "clean", Timeout: 60}})
	fmt.Println(next[0].Action, err)
	// Output: clean <nil>
}

func ExampleClient_Cancel() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	_ = tasks.Cancel(ctx, i.ID, "it rains")
	_, err := tasks.Resolve(ctx, i, nil)
	fmt.Println(errors.Is(err, fault.ErrStaleToken))
	// Output: true
}

func ExampleClient_Requeue() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	_ = tasks.Fail(ctx, i, task.Failure{Reason: "no shovel", GiveUp: true})
	again, _ := tasks.Requeue(ctx, i.ID, true)
	fmt.Println(again.ID == i.ID, again.StateNow(), again.Attempts)
	// Output: true waiting 0
}

func ExampleClient_AwaitEnd() {
	tasks, ctx, stop := open()
	defer stop()
	i, _ := tasks.Claim(ctx, "dig")
	go func() { _, _ = tasks.Resolve(ctx, i, "done") }()
	fmt.Println(tasks.AwaitEnd(ctx, i.ID))
	// Output: <nil>
}
