package clients

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

// A web handler creates a task and shows its result, a schedule creates one, and the worker does both.
func TestTheExamplesOfEachClientWork(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, []string{"go", "python-async"}, func(t *testing.T, l language) { // of Go they are tested by internal/docs
		name := l.name
		if l.probe != nil && exec.CommandContext(t.Context(), l.probe[0], l.probe[1:]...).Run() != nil {
			t.Logf("left out: the examples for %s, because %s fails", name, strings.Join(l.probe, " "))
			return
		}
		at := newCoordinator(t)
		at.start()
		page, err := binary.FreeAddress()
		require.NoError(t, err)
		_, port, err := net.SplitHostPort(page)
		require.NoError(t, err)
		startExample(t, name, append(slices.Clone(l.worker), at.url()))
		startExample(t, name, append(slices.Clone(l.web), port, at.url()))
		at.print("schedule", "add", "nightly", "report", "--every", "1s")
		testCounts(t, "http://"+page+"/counts")
		require.Eventually(t, func() bool {
			var reports struct{ Items []struct{ Action string } }
			return getJSON(t, at.url()+"/api/v1/tasks?state=resolved&action=report", &reports) == http.StatusOK && len(reports.Items) > 0
		}, limit, 50*time.Millisecond)
	})
}

// testCounts has the words of a text counted by the web server of an example, once although the request is repeated.
func testCounts(t *testing.T, counts string) {
	t.Helper()
	var made, again struct{ ID string }
	create := func(answer any) bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, counts, strings.NewReader("so it\ngoes"))
		require.NoError(t, err)
		r.Header.Set("Idempotency-Key", "example")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return false // it starts
		}
		defer response.Body.Close()
		require.Equal(t, http.StatusAccepted, response.StatusCode)
		require.NoError(t, json.NewDecoder(response.Body).Decode(answer))
		return true
	}
	require.Eventually(t, func() bool { return create(&made) }, limit, 50*time.Millisecond)
	require.True(t, create(&again))
	require.Equal(t, made, again)
	var shown struct {
		State  string
		Result int
	}
	require.Eventually(t, func() bool {
		return getJSON(t, counts+"/"+made.ID, &shown) == http.StatusOK && shown.State == "resolved"
	}, limit, 20*time.Millisecond)
	require.Equal(t, 3, shown.Result)
	require.Equal(t, http.StatusNotFound, getJSON(t, counts+"/t999999", &struct{}{}))
}

// getJSON reads an answer, and returns its status.
func getJSON(t *testing.T, url string, answer any) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, answer), "%s", text)
	return response.StatusCode
}

// startExample runs a program in the folder of a client, and ends it with SIGTERM at the end of the test.
func startExample(t *testing.T, dir string, words []string) {
	t.Helper()
	var printed bytes.Buffer
	c := exec.Command(words[0], words[1:]...)
	source, err := filepath.Abs(dir)
	require.NoError(t, err)
	c.Dir, c.Env = dir, append(withoutSettings(), "PYTHONPATH="+source, "PYTHONDONTWRITEBYTECODE=1")
	c.Stdout, c.Stderr = &printed, &printed
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = c.Wait()
		if t.Failed() {
			t.Logf("%s printed:\n%s", strings.Join(words, " "), &printed)
		}
	})
}
