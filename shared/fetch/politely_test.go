package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestRequestsThatAreRedirectedToOneHostTakeItsTurns(t *testing.T) {
	t.Parallel()
	var now, most, robots atomic.Int32
	three := make(chan struct{}) // closed when three requests are there
	full := sync.OnceFunc(func() { close(three) })
	answering := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			robots.Add(1)
			http.NotFound(w, r)
			return
		}
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 3 {
			full()
		}
		<-three
		fmt.Fprint(w, "content")
		now.Add(-1)
	})
	f := open(t, Config{})
	f.SetPace(3, time.Minute)
	var running sync.WaitGroup
	for range 20 {
		from := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, answering.URL, http.StatusFound) })
		running.Go(func() {
			ctx, answered := WithAnswered(context.Background())
			p, err := f.Poll(ctx, from.URL, models.Known{}, 100)
			if err != nil || string(p.Content) != "content" || p.MovedTo != "" || answered.URL() != answering.URL {
				panic(fmt.Sprint(err, p, answered.URL()))
			}
		})
	}
	running.Wait()
	require.EqualValues(t, 3, most.Load())
	require.EqualValues(t, 1, robots.Load(), "of the host that answers")
}

func TestHeadsAndPagesObeyACrawlDelay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var begun []time.Time
	var paths []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		begun, paths = append(begun, time.Now()), append(paths, r.Method+r.URL.Path)
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 0.05\n")
		}
	})
	f := open(t, Config{})
	f.SetPace(4, time.Minute)
	_, err := f.Document(t.Context(), s.URL+"/feed", 100)
	require.NoError(t, err)
	for range 2 {
		_, _, err = f.Head(t.Context(), s.URL+"/audio")
		require.NoError(t, err)
	}
	_, err = f.Document(t.Context(), s.URL+"/page", 100)
	require.NoError(t, err)
	require.Equal(t, []string{"GET/feed", "GET/robots.txt", "HEAD/audio", "HEAD/audio", "GET/page"}, paths)
	for n := 3; n < len(begun); n++ {
		require.GreaterOrEqual(t, begun[n].Sub(begun[n-1]), 50*time.Millisecond)
	}

	// A delay longer than the time that is left fails at once.
	f.SetPace(4, time.Hour)
	f.robots.keep(s.URL+"/robots.txt", robotsEntry{delay: time.Hour, known: true, until: time.Now().Add(time.Hour)}, time.Now())
	_, err = f.Document(t.Context(), s.URL+"/page", 100)
	require.NoError(t, err)
	ctx, cancel := WithoutWaits(t.Context(), time.Minute, time.Minute)
	defer cancel()
	_, _, err = f.Head(ctx, s.URL+"/audio")
	require.ErrorContains(t, err, "the host asks to wait")
}

func TestWaitsForTurnsDoNotCountForATimeout(t *testing.T) {
	t.Parallel()
	ctx, cancel := WithoutWaits(t.Context(), time.Hour, time.Minute)
	defer cancel()
	_, ready := waiting(ctx)
	a := ctx.Value(allowanceKey{}).(*allowance)
	require.False(t, a.timer.Stop(), "it is stopped already")
	ready()
	require.True(t, a.timer.Stop(), "it runs again")
}

func TestOnlyPermanentRedirectsTellANewAddress(t *testing.T) {
	t.Parallel()
	var s *httptest.Server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		next := map[string]int{"/301": 301, "/308": 308, "/302": 302, "/both": 301}[r.URL.Path]
		switch {
		case r.URL.Path == "/both":
			http.Redirect(w, r, s.URL+"/302", next)
		case next != 0:
			http.Redirect(w, r, s.URL+"/end", next)
		}
	})
	f := open(t, Config{})
	for path, want := range map[string]string{"/301": s.URL + "/end", "/308": s.URL + "/end", "/302": "", "/both": s.URL + "/302", "/end": ""} {
		p, err := f.Poll(t.Context(), s.URL+path, models.Known{}, 100)
		require.NoError(t, err)
		require.Equal(t, want, p.MovedTo, path)
	}
}
