package node

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// The clock jumps while 2 managers and 5 workers are connected, as it does for a process
// that was stopped or whose machine was suspended.
func TestAPauseLosesNoSessionAndCountsNoAttempt(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, 24 * time.Hour} {
		t.Run(fmt.Sprint(pause), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { pauseFleet(t, pause) })
		})
	}
}

func pauseFleet(t *testing.T, pause time.Duration) {
	var jumped atomic.Int64
	policy := task.Policy{MaxAttempts: 3, Backoff: 30 * time.Second}
	e, err := engine.Open(t.Context(), engine.Config{
		Journal: &journal.Memory{}, Procedures: space.Join(status.Procedures(), policy.Procedures(), policy.AdminProcedures()),
		Now: func() time.Time { return time.Now().Add(time.Duration(jumped.Load())) },
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	admin, err := e.Session(t.Context(), "admin", 0)
	require.NoError(t, err)
	for _, defs := range [][]space.Definition{status.Spaces(), lease.Spaces(), task.Spaces()} {
		for _, d := range defs {
			require.NoError(t, admin.Create(t.Context(), d.Name, d.Options))
		}
	}
	beating := make(chan error, 7)
	beats, stopBeats := context.WithCancel(ctx)
	var held []task.Item
	var clients []task.Client
	for n := range 7 { // the first two are managers
		repo, err := e.Session(t.Context(), fmt.Sprint("session-", n), 6*time.Second)
		require.NoError(t, err)
		serves := map[string]int{}
		if n >= 2 {
			serves["dig"] = 1
		}
		go func() { beating <- status.NewHeartbeat(repo, 2*time.Second, serves).Run(beats) }()
		if n < 2 {
			continue
		}
		client := task.Client{Repo: repo}
		_, err = task.Client{Repo: admin}.Create(t.Context(), models.Task{Action: "dig", Subject: fmt.Sprint(n), Timeout: 9}, 0)
		require.NoError(t, err)
		i, err := client.Claim(t.Context(), "dig")
		require.NoError(t, err)
		held, clients = append(held, i), append(clients, client)
	}
	<-time.After(7 * time.Second)
	jumped.Add(int64(pause))
	<-time.After(time.Second)
	for n, i := range held {
		require.NoError(t, clients[n].Report(t.Context(), i, "", true, nil), "the timeout (9 s) has moved by the pause")
	}
	dead, err := admin.Space(task.Dead).Count(t.Context(), task.AnyDead())
	require.NoError(t, err)
	require.Zero(t, dead)
	states, err := admin.Space(status.Space).Count(t.Context(), status.AnyState())
	require.NoError(t, err)
	require.Equal(t, 7, states, "no session was lost")

	stopBeats() // a session that stays silent is lost as soon as ever
	<-time.After(6*time.Second + 500*time.Millisecond)
	states, err = admin.Space(status.Space).Count(t.Context(), status.AnyState())
	require.NoError(t, err)
	require.Zero(t, states)
	for range 7 {
		require.NoError(t, <-beating)
	}
	stop()
	require.NoError(t, <-done)
}
