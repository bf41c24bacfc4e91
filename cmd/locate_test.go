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

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"leasehold/shared/config"
	"leasehold/shared/datadir"
	"leasehold/shared/fault"
)

// configOf loads the settings of some flags.
func configOf(t *testing.T, args ...string) config.Config {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.BindFlags(flags)
	require.NoError(t, flags.Parse(args))
	cfg, err := config.Load(flags)
	require.NoError(t, err)
	return cfg
}

func TestACoordinatorIsWhereTheUserSaysElseWhereTheFileDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, addressFile), []byte(`{"pid":7,"gate":"127.0.0.1:1","http":"127.0.0.1:2"}`), 0o600))
	for name, c := range map[string]struct {
		args []string
		want string
		said bool
	}{
		"the file":                          {[]string{"--data", dir}, "http://127.0.0.1:2", false},
		"nothing":                           {[]string{"--data", t.TempDir()}, "", false},
		"a host":                            {[]string{"--data", dir, "--host", "coordinator"}, "http://coordinator:7412", true},
		"a host with the port of its gate":  {[]string{"--host", "coordinator:9"}, "http://coordinator:7412", true},
		"an address of six":                 {[]string{"--host", "::1"}, "http://[::1]:7412", true},
		"a host and http":                   {[]string{"--host", "coordinator", "--http", "127.0.0.1:9"}, "http://127.0.0.1:9", true},
		"http alone":                        {[]string{"--data", dir, "--http", "127.0.0.1:9"}, "http://127.0.0.1:9", true},
		"http at every address":             {[]string{"--host", "coordinator", "--http", "0.0.0.0:9", "--insecure", "true"}, "http://coordinator:9", true},
		"every address, and no better host": {[]string{"--host", "0.0.0.0", "--http", "[::]:9", "--insecure", "true"}, "http://localhost:9", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := locate(configOf(t, c.args...))
			require.NoError(t, err)
			require.Equal(t, c.want, f.api)
			require.Equal(t, c.said, f.said)
		})
	}
}

func TestAFileThatDoesNotSayWhereIsNoCoordinator(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]error{"": fault.ErrUnavailable, "[]": fault.ErrUnavailable, "{}": nil, `{"http":""}`: nil} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, addressFile), []byte(content), 0o600))
		f, err := locate(configOf(t, "--data", dir))
		require.ErrorIs(t, err, want, content)
		require.Empty(t, f.api)
	}
	cfg := configOf(t, "--data", filepath.Join(t.TempDir(), "none"))
	f, err := locate(cfg)
	require.NoError(t, err)
	require.Empty(t, f.api)
}

func TestAFolderInUseByAProcessThatDoesNotAnswerSaysBoth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := datadir.Lock(dir)
	require.NoError(t, err)
	server := httptest.NewServer(http.NotFoundHandler()) // another program, at a port that was reused
	defer server.Close()
	doc, err := json.Marshal(addresses{HTTP: strings.TrimPrefix(server.URL, "http://")})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, addressFile), doc, 0o600))
	var out, said bytes.Buffer
	a := &app{out: &out, err: &said}
	require.Equal(t, 69, a.run(t.Context(), []string{"status", "--data", dir}))
	said.Reset()
	require.Equal(t, 1, a.run(t.Context(), []string{"findings", "--data", dir}))
	require.Contains(t, said.String(), "is in use by process")
	require.Contains(t, said.String(), "\nleasehold: the coordinator at "+server.URL+" is unavailable: 404 Not Found")

	require.NoError(t, release())
	require.Equal(t, 0, a.run(t.Context(), []string{"findings", "--data", dir}), "stale, and absent")
}
