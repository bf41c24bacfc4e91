//go:build unix

package cmd

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The only test that waits in real time, because only a real process can be stopped.
func TestACoordinatorThatIsPausedLosesNoSession(t *testing.T) {
	t.Parallel()
	dir, leasehold := t.TempDir(), filepath.Join(realBinary(t), "leasehold")
	h := startCoordinatorProcess(t, dir, leasehold, append([]string{"coordinator"}, anyPorts...)...)
	media := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(media.Close) // after the fleet was killed, because it waits for open requests
	h.put("/api/v1/episodes", fmt.Sprintf(`{"items":[{"name":"e1","uri":"%[1]s/1.wav"},{"name":"e2","uri":"%[1]s/2.wav"},{"name":"e3","uri":"%[1]s/3.wav"}]}`, media.URL))
	h.put("/api/v1/clips", `{"items":[{"name":"c","uri":"`+media.URL+`/c.wav"}]}`)
	var fleet []*process
	for range 2 {
		fleet = append(fleet, start(t, dir, leasehold, "manager", "--data", "m", "--host", h.at.Gate, "--capacity-look", "200ms"))
	}
	for range 5 {
		fleet = append(fleet, start(t, dir, leasehold, "worker", "--data", "w", "--host", h.at.Gate, "--slots", "1", "--allow-private", "127.0.0.1"))
	}
	id := regexp.MustCompile(`(manager|worker)-[0-9a-f]{8}`)
	sessions := func() []string {
		found := id.FindAllString(h.ask("/api/v1/status"), -1)
		slices.Sort(found)
		return slices.Compact(found)
	}
	var before []string
	h.await(func() (string, bool) { before = sessions(); return fmt.Sprint(before), len(before) == len(fleet) }, "7 sessions")
	held := func() bool { return strings.Count(h.ask("/api/v1/tasks"), `"state":"claimed"`) == 3 }
	h.await(func() (string, bool) { return h.ask("/api/v1/tasks"), held() }, "3 tasks that are held")

	h.signal(syscall.SIGSTOP)
	<-time.After(10 * time.Second)
	h.signal(syscall.SIGCONT)
	<-time.After(7 * time.Second) // longer than a silent session lives
	require.Equal(t, before, sessions())
	require.True(t, held(), h.ask("/api/v1/tasks"))
	require.Equal(t, 3, strings.Count(h.ask("/api/v1/tasks"), `"attempts":0`), "no attempt was counted")
	require.Contains(t, h.text(), "this process did not run for a time")
	for _, p := range fleet {
		require.NotContains(t, p.text(), "session lost")
	}
	awaitLossOf(t, h, fleet[0])
}

// awaitLossOf stops a process until its session is lost: the coordinator's log has its machine, and its
// own log has the reason.
func awaitLossOf(t *testing.T, h *coordinatorProcess, p *process) {
	t.Helper()
	host, err := os.Hostname()
	require.NoError(t, err)
	p.signal(syscall.SIGSTOP)
	h.awaitText(" host=" + host)
	p.signal(syscall.SIGCONT)
	p.awaitText("this process did not run for a time")
	p.awaitText("session lost, opening a new one")
}
