package node

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
)

// openEmpty opens an empty data folder.
func openEmpty(t *testing.T) *DataDir {
	cfg, err := config.Load(nil)
	require.NoError(t, err)
	cfg.Data = t.TempDir()
	d, err := OpenDataDir(t.Context(), cfg, discard)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// addAll adds and visits feeds, and returns the visits by URL.
func addAll(t *testing.T, d *DataDir, urls ...string) map[string]AddVisit {
	origins, err := DetectOrigins(urls, "feed")
	require.NoError(t, err)
	require.NoError(t, d.AddOrigins(t.Context(), origins, true))
	visits := map[string]AddVisit{}
	require.NoError(t, d.VisitAll(t.Context(), origins, func(v AddVisit) { visits[v.Origin.URI] = v }))
	return visits
}

func TestHostsOfAddedOriginsAreVisitedAtOnce(t *testing.T) {
	t.Parallel()
	const hosts = 8
	var all sync.WaitGroup // every host is asked before any answers
	all.Add(hosts)
	var urls []string
	for range hosts {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/feed.xml" {
				return // its audio is asked for too
			}
			all.Done()
			all.Wait()
			fmt.Fprintf(w, `<rss version="2.0"><channel><item><guid>1</guid><enclosure url="http://%s/1.mp3" type="audio/mpeg"/></item></channel></rss>`, r.Host)
		}))
		t.Cleanup(s.Close)
		urls = append(urls, s.URL+"/feed.xml")
	}
	for _, v := range addAll(t, openEmpty(t), urls...) {
		require.NoError(t, v.Err)
		require.Equal(t, 1, v.Items)
	}
}

func TestAHostThatDoesNotServeAnAddedOriginIsAskedOnce(t *testing.T) {
	t.Parallel()
	for status, asked := range map[int]int{http.StatusServiceUnavailable: 1, http.StatusInternalServerError: 1, http.StatusNotFound: 3} {
		requests := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests++
			w.WriteHeader(status)
		}))
		t.Cleanup(s.Close)
		d := openEmpty(t)
		visits := addAll(t, d, s.URL+"/1.xml", s.URL+"/2.xml", s.URL+"/3.xml")
		require.Equal(t, asked, requests, status)
		require.Error(t, visits[s.URL+"/1.xml"].Err)
		require.Equal(t, asked == 1, visits[s.URL+"/3.xml"].Skipped, status)
		schedule, err := d.Visits.Schedule(t.Context(), time.Now(), visits[s.URL+"/3.xml"].Origin.ID)
		require.NoError(t, err)
		require.Equal(t, asked == 1, len(schedule.History) == 0, "an origin that was skipped waits for its first visit")
	}
}
