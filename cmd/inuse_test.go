package cmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/datadir"
)

func TestAFolderInUseByAProcessThatDoesNotAnswerSaysBoth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := datadir.Lock(dir)
	require.NoError(t, err)
	server := httptest.NewServer(http.NotFoundHandler()) // another program, at a port that was reused
	defer server.Close()
	doc, err := json.Marshal(datadir.Addresses{HTTP: strings.TrimPrefix(server.URL, "http://")})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, datadir.AddressFile), doc, 0o600))
	var out, said bytes.Buffer
	a := &app{out: &out, err: &said}
	require.Equal(t, 69, a.run(t.Context(), []string{"status", "--data", dir}))
	said.Reset()
	require.Equal(t, 69, a.run(t.Context(), []string{"findings", "--data", dir}))
	require.Contains(t, said.String(), "is in use by process")
	require.Contains(t, said.String(), "leasehold: the coordinator at "+server.URL+" is unavailable: 404 Not Found")

	require.NoError(t, release())
	require.Equal(t, 0, a.run(t.Context(), []string{"findings", "--data", dir}), "stale, and absent")
}
