package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// An hour is an hour of fake time in which origins of three kinds are visited. The
// coordinator, the schedule, the flows and the origins are real.
type hour struct {
	*testing.T
	*DataDir
	cfg                config.Config
	spaces             journal.Memory
	feed, repo, folder string
	visited            []visitMade
}

type visitMade struct {
	id, kind string
	minute   int
	status   models.Status
}

// openHour opens a data folder with the three origins; the cooldown of visits is ten
// minutes.
func openHour(t *testing.T) *hour {
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data, cfg.VisitRules = t.TempDir(), "cooldown=10m"
	dir := t.TempDir()
	h := &hour{
		T: t, cfg: cfg,
		feed: filepath.Join(dir, "feed.xml"), repo: filepath.Join(dir, "repo"), folder: filepath.Join(dir, "talks"),
	}
	h.openDir()
	require.NoError(t, os.MkdirAll(filepath.Join(h.repo, ".git/objects"), 0o755))
	h.edit(1)
	h.commit(1)
	h.touch("sound")
	for kind, path := range map[string]string{"feed": h.feed, "git": h.repo, "media": h.folder} {
		origins, err := DetectOrigins([]string{path}, kind)
		require.NoError(t, err)
		require.NoError(t, h.AddOrigins(t.Context(), origins, true))
	}
	return h
}

func (h *hour) file(path, content string) {
	require.NoError(h, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h, os.WriteFile(path, []byte(content), 0o644))
}

func (h *hour) touch(content string) { h.file(filepath.Join(h.folder, "talk.mp3"), content) }

func (h *hour) edit(items int) {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>a show</title>`)
	for i := range items {
		fmt.Fprintf(&b, `<item><guid>%d</guid><title>%[1]d</title><enclosure url="https://a.example/%[1]d.mp3" type="audio/mpeg"/></item>`, i)
	}
	b.WriteString("</channel></rss>")
	h.file(h.feed, b.String())
}

func (h *hour) commit(n int) {
	h.file(filepath.Join(h.repo, ".git/HEAD"), "ref: refs/heads/main\n")
	h.file(filepath.Join(h.repo, ".git/refs/heads/main"), strings.Repeat(fmt.Sprint(n), 40)+"\n")
	h.file(filepath.Join(h.repo, ".git/logs/HEAD"), fmt.Sprintf("%040d %s A <a@b> %d +0000\tcommit\n", 0, strings.Repeat(fmt.Sprint(n), 40), time.Now().Unix()))
}

func (h *hour) openDir() {
	d, err := OpenDataDir(h.Context(), h.cfg, discard)
	require.NoError(h, err)
	require.NoError(h, d.openFetcher())
	h.DataDir = d
}

// run runs a coordinator until during returns.
func (h *hour) run(during func(c *coordinator.Coordinator)) {
	c, err := coordinator.New(h.Context(), h.coordinatorConfig(&h.spaces, nil, nil))
	require.NoError(h, err)
	ctx, stop := context.WithCancel(h.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- c.Run(ctx, func() { close(ready) }) }()
	<-ready
	during(c)
	stop()
	require.NoError(h, <-done)
}

// manage runs a manager for some minutes.
func (h *hour) manage(c *coordinator.Coordinator, minutes int) {
	flows := newFlows(h.cfg, h.Catalog, h.fetcher, &indexer{}, nil, discard)
	for name, f := range flows {
		flows[name] = noted{f, h}
	}
	ctx, stop := context.WithTimeout(h.Context(), time.Duration(minutes)*time.Minute)
	defer stop()
	connect := func(ctx context.Context) (space.Repository, error) { return c.Connect(ctx, "manager", time.Minute) }
	require.NoError(h, manager.Run(ctx, connect, manager.Config{Flows: flows, Heartbeat: 10 * time.Second, Grace: time.Second, Log: discard}))
	synctest.Wait()
}

// noted notes the visits that a flow makes, one after the other.
type noted struct {
	manager.Flow
	*hour
}

func (w noted) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	o, err := w.Flow.Visit(ctx, v)
	w.visited = append(w.visited, visitMade{v.ID, string(v.Origin.Kind), time.Now().Minute(), o.Status})
	return o, err
}

// minutes lists when visits of a kind ended so.
func (h *hour) minutes(kind string, status models.Status) (all []int) {
	for _, v := range h.visited {
		if v.kind == kind && v.status == status {
			all = append(all, v.minute)
		}
	}
	return all
}

// explain returns by kind the pool from which an origin would be visited next, or why it
// would not be.
func (h *hour) explain() map[string]string {
	source := &CatalogSource{Catalog: h.Catalog, Dir: h.DataDir}
	why := map[string]string{}
	origins, err := h.Catalog.Origins(h.Context())
	require.NoError(h, err)
	for _, o := range origins {
		schedule, err := source.Schedule(h.Context(), o.ID)
		require.NoError(h, err)
		why[string(o.Kind)] = schedule.Why
		if schedule.Visit != "" {
			why[string(o.Kind)] = "under way"
		}
	}
	next, err := source.NextVisits(h.Context(), 10)
	require.NoError(h, err)
	for _, n := range next {
		why[string(n.Kind)] = "next: " + n.Pool
	}
	return why
}

func TestAnHourOfAFeedARepositoryAndAFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := openHour(t)
		defer func() { require.NoError(t, h.Close()) }()
		time.AfterFunc(5*time.Minute, func() { h.edit(2) })
		time.AfterFunc(12*time.Minute, func() { h.commit(2) })
		time.AfterFunc(15*time.Minute, func() { h.touch("louder") })
		h.run(func(c *coordinator.Coordinator) {
			synctest.Wait() // until the first visit is claimed
			for kind, why := range h.explain() {
				require.Regexp(t, "^next: first$|^under way$", why, kind)
			}
			h.manage(c, 25)
			require.Equal(t, []int{0, 10}, h.minutes("feed", models.Eventful))
			require.Equal(t, []int{0, 20}, h.minutes("git", models.Eventful))
			require.Equal(t, []int{0, 20}, h.minutes("media", models.Eventful))
			require.Equal(t, []int{20}, h.minutes("feed", models.Uneventful))
			for kind, why := range h.explain() {
				require.Contains(t, why, "cooldown", kind)
			}
			<-time.After(6 * time.Minute) // without a manager
		})
		why := fmt.Sprint(h.explain())
		require.Equal(t, 1, strings.Count(why, "under way"), "it waits for a manager: %s", why)
		require.Equal(t, 2, strings.Count(why, "next: known"), why)

		// The coordinator is gone; another one opens what it left.
		require.NoError(t, h.Close())
		h.openDir()
		before := len(h.visited)
		h.run(func(c *coordinator.Coordinator) { h.manage(c, 28) })
		require.Len(t, h.visited, before+9, "three of each")
		done := map[string]bool{}
		for _, v := range h.visited {
			slot := fmt.Sprint(v.kind, " in minute ", v.minute/10*10)
			require.False(t, done[v.id] || done[slot], "%s is visited twice for one slot", slot)
			done[v.id], done[slot] = true, true
			require.Contains(t, []models.Status{models.Eventful, models.Uneventful}, v.status)
		}
	})
}
