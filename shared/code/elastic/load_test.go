package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/elastic"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// loadTimeout is how long a search of a load waits for a server that does not answer.
const loadTimeout = 5 * time.Second

// load publishes repositories one after the other and searches all of them, until end is called. A publication that fails for
// an error that can pass, or because a blob is gone by now, is repeated, as workers and managers do.
type load struct {
	testing.TB
	writer, reader *elastic.Index

	published atomic.Int64  // repositories with a lower number are found
	visits    atomic.Bool   // what the index has lost is published again
	searches  atomic.Int64  // that were over everything
	told      atomic.Int64  // searches that told that they were not, or failed
	lastTold  atomic.Value  // a string: what the last of them told
	wrong     atomic.Value  // a string: the first wrong answer
	done      chan struct{} // closed by end
	ended     chan error    // one for each goroutine
}

func startLoad(t testing.TB, c elastic.Config) *load {
	l := &load{TB: t, done: make(chan struct{}), ended: make(chan error, 2)}
	var indices [2]*elastic.Index
	for i := range indices {
		x, err := elastic.New(c)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, x.Close()) })
		indices[i] = x
	}
	l.writer, l.reader = indices[0], indices[1]
	go func() { l.ended <- l.publish() }()
	go func() { l.ended <- l.search() }()
	return l
}

func (l *load) publish() error {
	for {
		select {
		case <-l.done:
			return nil
		default:
		}
		err := l.visit()
		if n := l.published.Load(); err == nil {
			err = putNumbered(l.writer, n)
		}
		switch {
		case err == nil:
			l.published.Add(1)
		case !retry.CanPass(err) && !errors.Is(err, fault.ErrConflict):
			return err
		}
	}
}

// putNumbered publishes the repository with a number.
func putNumbered(x *elastic.Index, n int64) error {
	return put(x, fmt.Sprintf("r%05d", n), fmt.Sprintf("needle %d", n))
}

// visit publishes again what the index has lost, once visits is set.
func (l *load) visit() error {
	if !l.visits.Load() {
		return nil
	}
	repos, err := l.writer.Repos(context.Background())
	if err != nil {
		return err
	}
	complete := map[string]bool{}
	for _, r := range repos {
		complete[r.ID] = r.Lost == 0
	}
	for n := range l.published.Load() {
		if complete[fmt.Sprintf("r%05d", n)] {
			continue
		}
		if err := putNumbered(l.writer, n); err != nil {
			return err
		}
	}
	l.visits.Store(false)
	return nil
}

func (l *load) search() error {
	q, err := code.Parse("needle")
	if err != nil {
		return err
	}
	for {
		select {
		case <-l.done:
			return nil
		default:
		}
		least, seen := l.published.Load(), map[string]bool{}
		stats, err := l.reader.Search(context.Background(), q, code.Options{Timeout: loadTimeout}, func(m code.Match) bool {
			if strings.TrimLeft(m.Repo, "r0") != strings.TrimPrefix(m.Text, "needle ") && m.Text != "needle 0" {
				l.wrong.CompareAndSwap(nil, fmt.Sprintf("%s in %s", m.Text, m.Repo))
			}
			seen[m.Repo] = true
			return true
		})
		switch {
		case err != nil && !retry.CanPass(err):
			return err
		case err != nil, stats.Stopped != "", len(stats.Skipped) > 0:
			l.told.Add(1)
			l.lastTold.Store(fmt.Sprintf("stopped %q, skipped %v, error %v", stats.Stopped, stats.Skipped, err))
		default:
			for n := range least {
				if repo := fmt.Sprintf("r%05d", n); !seen[repo] {
					l.wrong.CompareAndSwap(nil, fmt.Sprintf("%s is not found among %d of %d", repo, len(seen), least))
				}
			}
			l.searches.Add(1)
		}
	}
}

// until waits until a condition holds.
func (l *load) until(what string, holds func() bool) {
	l.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for !holds() {
		if l.wrong.Load() != nil || len(l.ended) > 0 || time.Now().After(deadline) {
			var err error
			if len(l.ended) > 0 {
				err = <-l.ended
			}
			l.Fatalf("%s: %d published, %d searches over everything, %d not, wrong: %v, error: %v", what, l.published.Load(), l.searches.Load(), l.told.Load(), l.wrong.Load(), err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// goesOn waits until more is published and found.
func (l *load) goesOn(what string) {
	l.Helper()
	published := l.published.Load() + 3
	l.until(what+": publish", func() bool { return l.published.Load() >= published })
	searches := l.searches.Load() + 2
	l.until(what+": search", func() bool { return l.searches.Load() >= searches })
}

// isTold waits until searches tell that they are not over everything.
func (l *load) isTold(what string) {
	l.Helper()
	told := l.told.Load()
	l.until(what+": told", func() bool { return l.told.Load() > told })
}

// waits waits until an index tells that requests wait for the server.
func (l *load) waits(what string, x *elastic.Index) {
	l.Helper()
	l.until(what+": waits", func() bool {
		_, err := x.Waits()
		return err != nil
	})
}

// end ends the load, and checks that all published repositories are found.
func (l *load) end() {
	l.Helper()
	close(l.done)
	for range cap(l.ended) {
		require.NoError(l, <-l.ended)
	}
	require.Nil(l, l.wrong.Load())
	want := []string{}
	for n := range l.published.Load() {
		want = append(want, fmt.Sprintf("r%05d:needle %d", n, n))
	}
	all := found(l, l.reader)
	require.Subset(l, all, want)
	require.LessOrEqual(l, len(all), len(want)+1, "the last publication may have succeeded although its answer was lost")
	require.Len(l, slices.Compact(all), len(all))
	l.Logf("%d repositories published, %d searches over everything, %d that told they were not: %v", len(want), l.searches.Load(), l.told.Load(), l.lastTold.Load())
}

// send sends a request to the server, which must accept it.
func send(t testing.TB, method, url, body string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s %s: %s", method, url, text)
}
