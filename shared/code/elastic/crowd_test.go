package elastic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/process/retry"
)

// Sizes of a crowd. A server with 128 MB has not enough memory for it.
const (
	crowdSize  = 6
	largeTexts = 4
	largeText  = 2 << 20
)

// crowd publishes repositories of large texts and searches all of them, each in several goroutines, beside a load.
type crowd struct {
	*load
	stop  chan struct{} // closed by end
	all   sync.WaitGroup
	mu    sync.Mutex // guards large
	large []string   // the repositories that were published
}

func startCrowd(l *load) *crowd {
	c := &crowd{load: l, stop: make(chan struct{})}
	for i := range crowdSize {
		c.all.Go(func() { c.repeat(func(n int) error { return c.publishLarge(fmt.Sprintf("large-%d-%d", i, n)) }) })
		c.all.Go(func() { c.repeat(func(int) error { return c.searchBroadly() }) })
	}
	return c
}

// repeat repeats do until end is called, with another number after each success.
func (c *crowd) repeat(do func(n int) error) {
	for n := 0; ; {
		select {
		case <-c.stop:
			return
		default:
		}
		switch err := do(n); {
		case err == nil:
			n++
		case !retry.CanPass(err):
			c.wrong.CompareAndSwap(nil, err.Error())
		}
	}
}

func (c *crowd) publishLarge(repo string) error {
	var texts []string
	for range largeTexts {
		texts = append(texts, randomText(largeText))
	}
	if err := put(c.writer, repo, texts...); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.large = append(c.large, repo)
	return nil
}

// randomText returns about so many bytes of words. Its first line is crowd, and each other one begins with large.
func randomText(bytes int) string {
	var b strings.Builder
	b.WriteString("crowd\n")
	for b.Len() < bytes {
		fmt.Fprintf(&b, "large %x %x\n", rand.Uint64(), rand.Uint64())
	}
	return b.String()
}

func (c *crowd) searchBroadly() error {
	q, err := code.Parse(`/large [0-9a-f]*77/`)
	if err != nil {
		return err
	}
	_, err = c.reader.Search(context.Background(), q, code.Options{}, func(code.Match) bool { return true })
	return err
}

// end ends the crowd, and checks that what it has published is found.
func (c *crowd) end() {
	c.Helper()
	close(c.stop)
	c.all.Wait()
	q, err := code.Parse("crowd")
	require.NoError(c, err)
	files := map[string]int{}
	c.until("the texts of the crowd", func() bool {
		clear(files)
		stats, err := c.reader.Search(context.Background(), q, code.Options{Timeout: time.Minute}, func(m code.Match) bool {
			files[m.Repo]++
			return true
		})
		return err == nil && stats.Stopped == ""
	})
	c.Logf("%d repositories of large texts", len(c.large))
	for _, repo := range c.large {
		require.Equal(c, largeTexts, files[repo], repo)
	}
}
