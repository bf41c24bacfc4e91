//go:build unix

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestEveryContainerHasAHealthCheck(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"compose.yaml", "stack.yaml"} {
		data, err := os.ReadFile(filepath.Join("../docker", file))
		require.NoError(t, err)
		var doc struct {
			Services map[string]struct {
				Healthcheck struct{ Test []string }
			}
		}
		require.NoError(t, yaml.Unmarshal(data, &doc))
		for _, mode := range []string{"coordinator", "manager", "worker"} {
			require.Equal(t, []string{"CMD", "/leasehold", "health"}, doc.Services[mode].Healthcheck.Test, "%s of %s", mode, file)
		}
	}
}

// A container runs as user 65532, and has no shell.
func TestAdviceInTheImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "leasehold")
	data, err := os.ReadFile(filepath.Join(realBinary(t), "leasehold"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(bin, data, 0o755))
	mount := filepath.Join(dir, "mount")
	require.NoError(t, os.Mkdir(mount, 0o555))
	for parent := dir; parent != os.TempDir() && os.Getuid() == 0; parent = filepath.Dir(parent) {
		require.NoError(t, os.Chmod(parent, 0o755))
	}
	run := func(args ...string) (text string, code int) {
		c := exec.CommandContext(t.Context(), bin, append(args, "--data", mount)...)
		c.Env, c.Dir = []string{"HOME=/", "PATH=" + dir}, dir
		if os.Getuid() == 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		}
		out, err := c.CombinedOutput()
		if err != nil {
			require.ErrorAs(t, err, new(*exec.ExitError))
		}
		return string(out), c.ProcessState.ExitCode()
	}
	user := "user 65532"
	if os.Getuid() != 0 {
		user = "user "
	}
	text, code := run("doctor")
	require.Equal(t, 1, code)
	require.Contains(t, text, "let "+user)
	require.Contains(t, text, "mount a static ffmpeg at /usr/local/bin/ffmpeg")
	require.NotContains(t, text, "apt")
	text, code = run("worker", "--host", "127.0.0.1:1")
	require.Equal(t, 77, code, text)
	require.Contains(t, text, user)
}
