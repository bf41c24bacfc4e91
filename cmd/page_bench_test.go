package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/types"
)

var (
	pageWaiting = flag.Int("page.waiting", 100_000, "waiting tasks that the pages are measured with")
	pageEnded   = flag.Int("page.ended", 1_000_000, "ended tasks that the pages are measured with")
	pageWorkers = flag.Int("page.workers", 1_000, "workers that the pages are measured with")
)

// BenchmarkPages measures the pages of a coordinator process with many tasks and workers: the 95th percentile of the time
// of any page, none of them cached, the largest page, and the share of a core that the coordinator uses with 50
// open pages and without, while nothing happens and while 1,000 tasks a second are created and end. Of that, attention is
// at most the time that its checks took.
//
//	go test ./cmd -run '^$' -bench Pages -benchtime 1x -timeout 1h
func BenchmarkPages(b *testing.B) {
	leasehold := filepath.Join(realBinary(b), "leasehold")
	for b.Loop() {
		h := &crowd{coordinatorProcess: startCoordinatorProcess(b, b.TempDir(), leasehold, append([]string{"coordinator"}, anyPorts...)...)}
		h.openSessions(*pageWorkers)
		h.end(*pageEnded, 0)
		h.create("dig", *pageWaiting)
		h.measureViews()
		before, began := h.attention(), time.Now()
		b.ReportMetric(h.share(20*time.Second), "core-idle")
		b.ReportMetric((h.attention()-before)/time.Since(began).Seconds(), "core-attention")
		b.ReportMetric(h.shareOfEnds(20*time.Second), "core-1000/s")
		closePages := h.openPages(50)
		b.ReportMetric(h.share(20*time.Second), "core-50-pages")
		b.ReportMetric(h.shareOfEnds(20*time.Second), "core-50-pages-1000/s")
		closePages()
	}
}

// crowd is a coordinator with many tasks and workers.
type crowd struct {
	*coordinatorProcess
	sessions []string
	made     int
}

// post sends a body and reads the answer.
func (c *crowd) post(path string, body, answer any) {
	data, err := json.Marshal(body)
	require.NoError(c, err)
	r, err := http.NewRequestWithContext(c.Context(), http.MethodPost, "http://"+c.at.HTTP+"/api/v1"+path, bytes.NewReader(data))
	require.NoError(c, err)
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	require.NoError(c, err)
	defer w.Body.Close()
	data, err = io.ReadAll(w.Body)
	require.NoError(c, err)
	require.Less(c, w.StatusCode, 300, "%s: %s", path, data)
	require.NoError(c, json.Unmarshal(data, answer))
}

// openSessions opens sessions of workers, and keeps them until the benchmark ends.
func (c *crowd) openSessions(n int) {
	for i := range n {
		var opened types.WorkerSession
		c.post("/sessions", types.NewSession{Name: fmt.Sprint("worker-", i), TTL: new(models.Seconds(60)), Serves: []types.Served{{Action: fmt.Sprint("paint-", i%20), Slots: 2}}}, &opened)
		c.sessions = append(c.sessions, opened.ID)
	}
	ctx, stop := context.WithCancel(context.Background())
	var beating sync.WaitGroup
	beating.Go(func() { c.beat(ctx) })
	c.Cleanup(func() { stop(); beating.Wait() })
}

// beat keeps the sessions until the context ends.
func (c *crowd) beat(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i = (i + 1) % len(c.sessions) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.at.HTTP+"/api/v1/sessions/"+c.sessions[i]+"/heartbeat", strings.NewReader("{}"))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			if w, err := http.DefaultClient.Do(r); err == nil {
				_ = w.Body.Close()
			}
		}
		<-time.After(20 * time.Second / time.Duration(len(c.sessions)))
	}
}

// create creates waiting tasks.
func (c *crowd) create(action string, n int) {
	for n > 0 {
		var tasks types.NewTasks
		for range min(n, 1000) {
			c.made++
			tasks.Tasks = append(tasks.Tasks, types.NewTask{Action: action, Subject: fmt.Sprint("garden-", c.made), Data: json.RawMessage(`{"depth":3}`)})
		}
		c.post("/task-batches", tasks, new(json.RawMessage))
		n -= len(tasks.Tasks)
	}
}

// end creates tasks, claims them and ends them, at most so many a second; 0: as fast as the coordinator can.
func (c *crowd) end(n, rate int) {
	began := time.Now()
	for done, round := 0, 0; done < n; round++ {
		action, session := fmt.Sprint("paint-", round%20), c.sessions[round%len(c.sessions)]
		c.create(action, min(1000, n-done))
		var ends []types.Finish
		for {
			var claimed types.ClaimedTasks
			c.post("/sessions/"+session+"/claims", types.NewTaskClaims{Actions: []string{action}, Limit: new(64), Finish: ends}, &claimed)
			ends = nil
			if len(claimed.Items) == 0 {
				break
			}
			for _, t := range claimed.Items {
				ends = append(ends, types.Finish{Task: t.ID, Resolve: &types.Resolution{Token: t.Token, Result: json.RawMessage(`{"holes":4}`)}})
			}
			done += len(claimed.Items)
			if rate > 0 {
				<-time.After(time.Until(began.Add(time.Duration(done) * time.Second / time.Duration(rate))))
			}
		}
	}
}

// measureViews gets each page some times, a second apart, because a page is kept for less.
func (c *crowd) measureViews() {
	paths := []string{"/", "/tasks", "/tasks?state=waiting", "/tasks?state=resolved", "/tasks?text=garden", "/workers", "/archive", "/visits", "/code", "/schedules", "/spaces", "/spaces/task", "/log"}
	const rounds = 20
	took, largest := map[string][]time.Duration{}, map[string]int{}
	for range rounds {
		for _, path := range paths {
			began := time.Now()
			page := c.ask(path)
			took[path] = append(took[path], time.Since(began))
			largest[path] = max(largest[path], len(page))
			require.NotEmpty(c, page, path)
		}
		<-time.After(1100 * time.Millisecond)
	}
	slowest, most := time.Duration(0), 0
	for _, path := range paths {
		slices.Sort(took[path])
		p95 := took[path][rounds*95/100]
		c.Logf("%-24s p50 %6.1f ms, p95 %6.1f ms, %6.1f kB", path, ms(took[path][rounds/2]), ms(p95), float64(largest[path])/1000)
		slowest, most = max(slowest, p95), max(most, largest[path])
	}
	c.TB.(*testing.B).ReportMetric(ms(slowest), "ms-p95")
	c.TB.(*testing.B).ReportMetric(float64(most)/1000, "kB-page")
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// share returns the share of a core that the coordinator uses in the next d.
func (c *crowd) share(d time.Duration) float64 {
	before := processorTime(c, c.cmd.Process.Pid)
	<-time.After(d)
	return float64(processorTime(c, c.cmd.Process.Pid)-before) / float64(d)
}

// attention returns the seconds that looking for what needs attention has taken.
func (c *crowd) attention() float64 {
	match := regexp.MustCompile(`(?m)^leasehold_attention_seconds_total (\S+)$`).FindStringSubmatch(c.ask("/metrics"))
	require.NotNil(c, match)
	seconds, err := strconv.ParseFloat(match[1], 64)
	require.NoError(c, err)
	return seconds
}

// shareOfEnds is share while 1,000 tasks a second end.
func (c *crowd) shareOfEnds(d time.Duration) float64 {
	const rate = 1000
	before, began := processorTime(c, c.cmd.Process.Pid), time.Now()
	c.end(int(d.Seconds())*rate, rate)
	return float64(processorTime(c, c.cmd.Process.Pid)-before) / float64(time.Since(began))
}

// openPages follows pages as browsers do, until stop.
func (c *crowd) openPages(n int) (stop func()) {
	ctx, cancel := context.WithCancel(c.Context())
	var reading sync.WaitGroup
	for i := range n {
		page := []string{"/", "/tasks?state=waiting", "/workers", "/visits", "/log"}[i%5]
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.at.HTTP+"/events?page="+url.QueryEscape(page), http.NoBody)
		require.NoError(c, err)
		w, err := http.DefaultClient.Do(r)
		require.NoError(c, err)
		require.Equal(c, http.StatusOK, w.StatusCode)
		reading.Go(func() {
			defer w.Body.Close()
			_, _ = io.Copy(io.Discard, w.Body) // until stop
		})
	}
	return func() { cancel(); reading.Wait() }
}

// processorTime reads from /proc of Linux how much a process has used the processors.
func processorTime(t testing.TB, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	require.NoError(t, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}
