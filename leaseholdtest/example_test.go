package leaseholdtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"leasehold/leaseholdtest"
	"leasehold/models"
	"leasehold/worker"
)

type picture struct {
	Name  string `json:"name"`
	Width int    `json:"width"`
}

type thumbnail struct {
	File string `json:"file"`
}

// resize is a typed handler: JSON is decoded into picture, and thumbnail is encoded.
func resize(ctx context.Context, t worker.Task[picture]) (thumbnail, error) {
	if t.Data.Width <= 0 {
		return thumbnail{}, worker.GiveUp(errors.New("width must be above 0"))
	}
	return thumbnail{File: fmt.Sprintf("%s-%d.png", t.Data.Name, t.Data.Width)}, nil
}

// A worker does two tasks. It gives the second one up.
func Example() {
	c, _ := leaseholdtest.Open()
	defer c.Close()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	measured := worker.Measure(func(action string, _ time.Duration, err error) { fmt.Println(action, err) })
	go func() {
		done <- worker.Run(ctx, c.Connect, worker.Config{
			Handlers: map[string]worker.Handler{"resize": worker.Handle(resize)}, Wrap: []worker.Middleware{measured},
			Slots: 1, Heartbeat: time.Second, Drain: time.Minute, Grace: time.Second, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
	}()

	tasks := c.Tasks()
	for _, data := range []string{`{"name": "cat", "width": 64}`, `{"name": "dog"}`} {
		i, _ := tasks.Create(ctx, models.Task{Action: "resize", Data: []byte(data), Timeout: 60}, 0)
		_ = tasks.AwaitEnd(ctx, i.ID)
		if l, err := tasks.DeadLetter(ctx, i.ID); err == nil {
			fmt.Println("dead:", l.History[0].Error)
		}
	}
	stop()
	fmt.Println(<-done)
	// Output:
	// resize <nil>
	// resize width must be above 0
	// dead: width must be above 0
	// <nil>
}
