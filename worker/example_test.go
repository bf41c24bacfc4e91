package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/worker"
)

type page struct {
	URL string `json:"url"`
}

// fetch tells whether a page is there.
func fetch(ctx context.Context, t worker.Task[page]) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.Data.URL, nil)
	if err != nil {
		return 0, worker.GiveUp(err) // no worker could do it
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err // another worker may try
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusTooManyRequests {
		return 0, worker.Later(time.Minute, errors.New(answer.Status))
	}
	return answer.StatusCode, nil
}

// A program that works for a coordinator on this machine until it is interrupted.
func ExampleRun() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	connect := func(ctx context.Context) (space.Repository, error) {
		conn, err := remote.Dial(ctx, remote.Config{
			Address: "127.0.0.1:7411", Mode: "worker", Name: "fetcher-1", Session: remote.SessionID("worker"), TTL: 6 * time.Second,
		})
		if err != nil {
			return nil, err
		}
		return space.Over(conn), nil
	}
	err := worker.Run(ctx, connect, worker.Config{
		Handlers: map[string]worker.Handler{"fetch": worker.Handle(fetch)},
		Slots:    4, Heartbeat: 2 * time.Second, Drain: 30 * time.Second, Grace: 10 * time.Second,
	})
	fmt.Println(err)
}
