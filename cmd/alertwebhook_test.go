package cmd

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/alert"
	"leasehold/models"
)

func TestWhatNeedsAttentionReachesAWebhookOnceAndSigned(t *testing.T) {
	t.Parallel()
	got := make(chan alert.AttentionNotice, 16)
	secret := []byte("thirty-two characters and some more")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n alert.AttentionNotice
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &n) != nil || alert.Sign(secret, r.Header.Get(alert.TimestampHeader), body) != r.Header.Get(alert.SignatureHeader) {
			http.Error(w, "not signed", http.StatusBadRequest)
			return
		}
		got <- n
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), secret, 0o600))
	h := startCoordinatorProcess(t, dir, filepath.Join(realBinary(t), "leasehold"), append([]string{"coordinator",
		"--alert-webhook", server.URL, "--alert-webhook-secret", "@secret", "--alert-webhook-allow", "127.0.0.1"}, anyPorts...)...)
	for _, action := range []string{"mail", "fax"} {
		made := start(t, dir, filepath.Join(realBinary(t), "leasehold"), "task", "create", action, "--host", h.at.Gate)
		require.True(t, made.end().Success(), made.text())
	}

	told := map[string]int{}
	for len(told) < 2 {
		select {
		case n := <-got:
			require.Equal(t, "attention", n.Event)
			require.Equal(t, models.CauseNoWorker, n.Cause)
			told[n.About]++
		case <-time.After(processTimeout):
			require.Fail(t, "no alert", h.text())
		}
	}
	require.Equal(t, map[string]int{"mail": 1, "fax": 1}, told)
}
