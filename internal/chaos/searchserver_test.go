//go:build linux

package chaos

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/api/client"
	"leasehold/shared/code/elastic/elastictest"
)

// Row 53: a task whose search server is busy is released without an attempt, and is done when the server takes it again,
// also if another coordinator has taken over meanwhile.
func TestFault53ATaskWhoseSearchServerIsBusyOutlivesATakeOver(t *testing.T) {
	t.Parallel()
	var busy atomic.Bool
	busy.Store(true)
	var refused atomic.Int64
	search := elastictest.New()
	search.Fail = func(r *http.Request, _ string) *elastictest.Answer {
		if !busy.Load() || !strings.HasSuffix(r.URL.Path, "/_bulk") {
			return nil
		}
		refused.Add(1)
		return &elastictest.Answer{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3600"}}}
	}
	server := httptest.NewServer(search)
	t.Cleanup(server.Close)
	s := newShared(t, 2, append([]string{"ELASTICSEARCH_URL=" + server.URL}, fastDetection...)...)
	s.env = []string{"LEASEHOLD_DATA=" + t.TempDir(), "host=" + s.gate}
	for _, mode := range []string{"manager", "worker"} {
		m := s.newMember(mode)
		m.env = []string{"ELASTICSEARCH_URL=" + server.URL}
		m.start("")
	}
	said, code := s.run("origin", "add", repository(t, 1))
	require.Zero(t, code, said)
	api := s.api()
	defer api.Close()
	requireReleased := func() {
		binary.Eventually(t, "the task waits", func() bool {
			tasks, _, err := api.Tasks(within(t), client.TaskFilter{}, -1)
			require.NoError(t, err)
			return len(tasks) == 1 && tasks[0].CurrentClaimant == nil && tasks[0].Attempts == 0 && strings.HasPrefix(tasks[0].Note, "handed back")
		})
	}
	binary.Eventually(t, "the search server refuses", func() bool { return refused.Load() > 0 })
	requireReleased()
	s.awaitEpoch(1).leave()
	s.awaitEpoch(2)
	requireReleased()
	busy.Store(false)
	binary.Eventually(t, "all files are found", func() bool {
		said, code := s.run("search", "--json", "/^needle[0-3]$/")
		return code == 0 && strings.Count(said, `"line":1`) == 4
	})
	dead, _, err := api.Dead(within(t), client.TaskFilter{}, -1)
	require.NoError(t, err)
	require.Empty(t, dead)
}
