//go:build linux

package chaos

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/gospace"
	"leasehold/internal/binary"
	"leasehold/shared/api/types"
	"leasehold/shared/tuple"
	"leasehold/spaces"
)

// TestNativeProgramsGoOnOverARestartOfTheCoordinator kills the coordinator under programs whose
// sessions have no TTL, while they wait and put.
func TestNativeProgramsGoOnOverARestartOfTheCoordinator(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.mustStart()
	ctx, cancel := context.WithTimeout(t.Context(), binary.WaitLimit)
	defer cancel()
	producer, err := spaces.Dial(ctx, h.gate, "producer-1")
	require.NoError(t, err)
	consumer := gospace.NewRemoteSpace("tcp://" + h.gate + "/goods")
	const kills, puts = 3, 40
	total := kills * puts
	got := make(chan []int64, 1)
	var failed error
	go func() {
		var all []int64
		for len(all) < total && failed == nil {
			var n int64
			if _, failed = consumer.WithContext(ctx).Get("item", &n); failed == nil {
				all = append(all, n)
			}
		}
		got <- all
	}()
	binary.Eventually(t, "the consumer has made its space", func() bool {
		_, err := producer.Space("goods").Count(ctx, tuple.Match("item", tuple.AnyInt64))
		return err == nil
	})
	for k := range kills {
		put := make(chan error, 1)
		go func() {
			for n := range puts {
				if err := producer.Space("goods").Put(ctx, tuple.New("item", int64(k*puts+n)), 0); err != nil {
					put <- err
					return
				}
				after(10 * time.Millisecond)
			}
			put <- nil
		}()
		after(100 * time.Millisecond)
		h.Kill()
		h.mustStart()
		require.NoError(t, <-put)
	}
	all := <-got
	require.NoError(t, failed)
	for n := range total {
		require.EqualValues(t, n, all[n], "each put happens once, in order")
	}
	require.NoError(t, consumer.Close())
	require.NoError(t, producer.Close(ctx))
}

// TestWaitingForATaskGoesOnOverARestartOfTheCoordinator restarts the coordinator under a waiting
// command and a waiting Python program.
func TestWaitingForATaskGoesOnOverARestartOfTheCoordinator(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.mustStart()
	task, err := h.api().CreateTask(t.Context(), types.NewTask{Action: "paint", Data: []byte(`{"n": 1}`)})
	require.NoError(t, err)
	clients, err := filepath.Abs("../../clients/python")
	require.NoError(t, err)
	script := "import leasehold, sys; print(leasehold.Client('http://" + h.http + "').wait('" + task.ID + "')['state'])"
	waits := []*binary.Process{
		binary.Start(t, h.env, program, "task", "wait", task.ID),
		binary.Start(t, []string{"PYTHONPATH=" + clients}, "python3", "-c", script),
	}
	after(5 * time.Second) // both have asked by then, also on a machine that is busy
	h.Kill()
	after(4 * time.Second)
	for _, w := range waits {
		require.False(t, w.Ended(), "it waits for the coordinator to come back: %s", w.Output())
	}
	h.mustStart()
	require.NoError(t, h.api().CancelTask(t.Context(), task.ID, "no paint"))
	require.Equal(t, 1, waits[0].Code())
	require.Contains(t, waits[0].Output(), "no paint")
	require.Zero(t, waits[1].Code())
	require.Contains(t, waits[1].Output(), "cancelled")
}
