package fetch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestACallerThatLeavesEndsADownloadOnlyIfItIsTheLast(t *testing.T) {
	t.Parallel()
	left := errors.New("left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	for others := range 2 {
		f := open(t, Config{})
		var ended error
		d := &sharedDownload{done: make(chan struct{}), cancel: func(err error) { ended = err }, callers: others}
		f.downloads[unused+"\x00\x00"] = d
		_, err := f.Fetch(ctx, ref(unused))
		require.ErrorIs(t, err, left)
		require.Equal(t, others, d.callers)
		require.Equal(t, others == 0, errors.Is(ended, context.Canceled))
		require.Len(t, f.downloads, others, "the next caller must not join a download that ends")
		clear(f.downloads)
	}
}

func TestACallerThatLeavesAsItsDownloadEndsGetsTheFile(t *testing.T) {
	t.Parallel()
	f := open(t, Config{})
	s, err := f.cache.stage(strings.NewReader("x"))
	require.NoError(t, err)
	b, err := f.cache.publish(s, record{Key: keyOf(unused), Hash: s.hash})
	require.NoError(t, err)
	f.downloads[unused+"\x00\x00"] = &sharedDownload{done: make(chan struct{}), finished: true, blob: b}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file, err := f.Fetch(ctx, ref(unused))
	require.NoError(t, err)
	require.Equal(t, "x", read(t, file))
	require.NoError(t, file.Close())
	require.Zero(t, b.pins)
	clear(f.downloads)
}

// All callers of a download may leave before it notices, and others may come.
func TestADownloadThatEndsLateLeavesTheOneThatReplacedIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, err := New(Config{Dir: dir, AllowPrivate: []string{"127.0.0.1"}})
		require.NoError(t, err)
		script(t.Context(), f, time.Hour, "")
		f.mu.Lock()
		late := f.startDownload(t.Context(), "key", ref("http://127.0.0.1/"))
		newer := &sharedDownload{}
		f.downloads["key"] = newer
		f.mu.Unlock()
		late.cancel(context.Canceled)
		<-late.done
		f.mu.Lock()
		require.Same(t, newer, f.downloads["key"])
		clear(f.downloads)
		f.mu.Unlock()
		require.NoError(t, f.Close())
	})
}

func TestCloseWaitsForDownloads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f, err := New(Config{Dir: dir})
		require.NoError(t, err)
		end, closed := make(chan bool), false
		f.running.Go(func() { <-end })
		go func() {
			assert.NoError(t, f.Close())
			closed = true
		}()
		synctest.Wait()
		require.False(t, closed)
		close(end)
		synctest.Wait()
		require.True(t, closed)
	})
}
