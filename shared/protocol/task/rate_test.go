package task_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
)

func TestARateOfLessThanOneOrOneOrMoreTasksASecondIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate  float64
		burst int           // that start at once
		pause time.Duration // until the next one may start
	}{{0.25, 1, 4 * time.Second}, {1, 1, time.Second}, {3, 3, time.Second / 3}} {
		t.Run(fmt.Sprint(c.rate), func(t *testing.T) {
			withFixture(t, func(f fixture) {
				require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Rate: c.rate}))
				for range c.burst + 2 {
					f.make(models.TaskOptions{Limits: []string{"api"}})
				}
				for range c.burst {
					require.NotEmpty(f, f.claims().ID)
				}
				require.Empty(f, f.claims().ID)
				<-time.After(c.pause - 10*time.Millisecond)
				require.Empty(f, f.claims().ID)
				<-time.After(20 * time.Millisecond)
				require.NotEmpty(f, f.claims().ID)
				require.Empty(f, f.claims().ID)
			})
		})
	}
}

func TestARateCountsFromWhenItIsSet(t *testing.T) {
	withFixture(t, func(f fixture) {
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Max: 9}))
		for range 5 {
			f.make(models.TaskOptions{Limits: []string{"api"}})
		}
		require.NotEmpty(f, f.claims().ID)
		require.NotEmpty(f, f.claims().ID)
		require.NoError(f, f.client.SetLimit(f.Context(), task.Limit{Name: "api", Rate: 1}))
		require.NotEmpty(f, f.claims().ID, "tasks that started before count for nothing")
		require.Empty(f, f.claims().ID)
	})
}

func TestARateCountsAlsoBehindOtherLimitsAndIsNotFreedByBeingSetAgain(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.limit("db", 9)
		rate := task.Limit{Name: "api", Rate: 1}
		require.NoError(f, f.client.SetLimit(f.Context(), rate))
		for range 2 {
			f.make(models.TaskOptions{Limits: []string{"unset", "db", "api"}})
		}
		require.NotEmpty(f, f.claims().ID)
		require.Empty(f, f.claims().ID)
		require.NoError(f, f.client.SetLimit(f.Context(), rate))
		require.Empty(f, f.claims().ID, "the task that started counts still")
		<-time.After(1100 * time.Millisecond)
		require.NotEmpty(f, f.claims().ID)
	})
}
