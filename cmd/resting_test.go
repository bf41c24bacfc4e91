package cmd

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRunUntilIdleTellsWhatRestsAndForceLiftsTheRest(t *testing.T) {
	t.Parallel()
	var visits atomic.Int64
	var busy atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visits.Add(1)
		if busy.Load() {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`<rss version="2.0"><channel><title>quiet</title><item><guid>1</guid><enclosure url="/a.mp3" type="audio/mpeg"/></item></channel></rss>`)) // the client may be gone
	}))
	t.Cleanup(server.Close)
	feed, dir := server.URL+"/feed.xml", t.TempDir()
	leasehold := func(args ...string) string {
		c := exec.CommandContext(t.Context(), filepath.Join(realBinary(t), "leasehold"), append(args, "--data", "data")...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		out, _ := c.CombinedOutput() // a run whose only visit failed exits 1
		return string(out)
	}
	rests := regexp.MustCompile("(?m)^1 feed rests until [-0-9 ]*[0-9]{2}:[0-9]{2}; `leasehold origin save-now " +
		regexp.QuoteMeta(feed) + " --force --data data` visits it now \\(([^)]+)\\)$")

	require.NotContains(t, leasehold("run", "--until-idle", feed), "rests", "it was visited by this run")
	before := visits.Load()
	found := rests.FindStringSubmatch(leasehold("run", "--until-idle"))
	require.NotNil(t, found)
	require.Equal(t, "cooldown", found[1])
	require.Equal(t, before, visits.Load())
	leasehold("origin", "save-now", feed, "--force")
	require.NotContains(t, leasehold("run", "--until-idle"), "rests")
	require.Greater(t, visits.Load(), before)

	busy.Store(true)
	leasehold("origin", "save-now", feed)
	found = rests.FindStringSubmatch(leasehold("run", "--until-idle"))
	require.NotNil(t, found)
	require.Equal(t, "Retry-After", found[1])
	leasehold("origin", "save-now", feed)
	require.Regexp(t, rests, leasehold("run", "--until-idle"), "a Retry-After outlasts a request")
	busy.Store(false)
	before = visits.Load()
	leasehold("origin", "save-now", feed, "--force")
	require.NotContains(t, leasehold("run", "--until-idle"), "rests")
	require.Greater(t, visits.Load(), before)
}
