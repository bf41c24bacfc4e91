package attention_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/models"
)

func TestAttemptsThatRunFarLongerThanOthersAreShown(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		w := f.worker("resize", 4)
		run := func() {
			f.create("resize", 1)
			i := f.claim(w, "resize")
			f.wait(20 * time.Second)
			_, err := w.Resolve(f.Context(), i, nil)
			require.NoError(f, err)
		}
		for range 19 {
			run()
		}
		slow := f.create("resize", 1)[0]
		require.Equal(f, slow, f.claim(w, "resize").ID)
		f.wait(5 * time.Minute)
		require.Empty(f, f.items(models.CauseSlow), "19 tasks are too few")
		run()
		f.wait(5 * time.Second)
		i := f.only(models.CauseSlow)
		require.Equal(f, slow, i.Example)
		require.Equal(f, "resize", i.About)
		require.Equal(f, "1 attempt of resize runs for over 1m40s, while 95 of 100 take at most 20s", i.Text)
		require.Equal(f, "cancelTask", i.Remedy.Operation)
		require.True(f, i.Remedy.Lasting)
		require.NoError(f, f.tasks.Cancel(f.Context(), i.Remedy.Params["task"], ""))
		f.wait(5 * time.Second)
		require.Empty(f, f.items(models.CauseSlow))
	})
}

func TestShortAttemptsAreNotSlowBeforeAMinute(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(f *fixture) {
		w := f.worker("ping", 4)
		for range 20 {
			f.create("ping", 1)
			_, err := w.Resolve(f.Context(), f.claim(w, "ping"), nil)
			require.NoError(f, err)
		}
		f.create("ping", 1)
		f.claim(w, "ping")
		f.wait(58 * time.Second)
		require.Empty(f, f.items(models.CauseSlow))
		f.wait(6 * time.Second)
		f.only(models.CauseSlow)
	})
}

func TestDeadLettersAreGroupedByActionAndMaskedError(t *testing.T) {
	t.Parallel()
	inBubble(t, func(c *coordinator.Config) { c.Work.Task.MaxAttempts = 1 }, func(f *fixture) {
		w := f.worker("resize", 1)
		die := func(action, reason string) string {
			id := f.create(action, 1)[0]
			for range 2 {
				i := f.claim(w, action)
				require.NoError(f, w.Release(f.Context(), i, reason))
				f.wait(2 * time.Second)
			}
			return id
		}
		first := ""
		for n := range 3 {
			id := die("resize", fmt.Sprintf("disk quota exceeded: /mnt/thumbs/%d.png, request 3f2a9c1d7e4%d after %d ms", n, n, 100+n))
			if n == 0 {
				first = id
			}
		}
		only := die("resize", "<script>alert(1)</script>\x1b[2J")
		f.wait(5 * time.Second)
		items := f.items(models.CauseDead)
		require.Len(f, items, 2)
		require.Equal(f, "3 dead letters of resize: disk quota exceeded: PATH, request ID after N ms", items[0].Text)
		require.Equal(f, int64(3), items[0].Count)
		require.Equal(f, first, items[0].Example)
		require.Equal(f, "requeueSelected", items[0].Remedy.Operation)
		require.Equal(f, "Requeue 3", items[0].Remedy.Label)
		require.Equal(f, int64(3), items[0].Remedy.Count)
		require.JSONEq(f, `{"action":"resize","text":"disk quota exceeded","count":3}`, string(items[0].Remedy.Body))
		require.Equal(f, "leasehold dead requeue --action resize --text 'disk quota exceeded'", items[0].Command)
		require.Contains(f, items[1].Text, "<script>alert(N)</script>")
		require.NotContains(f, items[1].Text+items[1].Detail, "\x1b")
		require.Equal(f, "requeueDead", items[1].Remedy.Operation)
		require.Equal(f, map[string]string{"task": only}, items[1].Remedy.Params)
		_, err := f.tasks.Requeue(f.Context(), items[1].Remedy.Params["task"], true)
		require.NoError(f, err)
		f.wait(5 * time.Second)
		require.Len(f, f.items(models.CauseDead), 1)
	})
}
