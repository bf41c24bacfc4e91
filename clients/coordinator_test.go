package clients

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

// coordinator is the real binary, which can be killed and started again.
type coordinator struct {
	*testing.T
	program, data, gate, api string
	flags                    []string
	running                  *exec.Cmd
	printed                  bytes.Buffer
}

// buildLeasehold returns the path of the real binary.
var buildLeasehold = sync.OnceValues(func() (string, error) {
	path := filepath.Join(shared, "leasehold")
	return path, binary.Build(path)
})

// newCoordinator returns one that runs with more flags; --auth among them has it authenticate.
func newCoordinator(t *testing.T, flags ...string) *coordinator {
	t.Helper()
	program, err := buildLeasehold()
	require.NoError(t, err)
	c := &coordinator{T: t, program: program, data: filepath.Join(t.TempDir(), "data"), flags: flags}
	c.gate, err = binary.FreeAddress()
	require.NoError(t, err)
	c.api, err = binary.FreeAddress()
	require.NoError(t, err)
	t.Cleanup(func() {
		if c.running != nil {
			_ = c.running.Process.Signal(syscall.SIGTERM)
			require.NoError(t, c.running.Wait(), "%s", &c.printed)
		}
	})
	return c
}

func (c *coordinator) url() string {
	if slices.Contains(c.flags, "--auth") {
		return "https://" + c.api
	}
	return "http://" + c.api
}

// print returns what a command prints that asks the coordinator.
func (c *coordinator) print(args ...string) string {
	c.Helper()
	var failed bytes.Buffer
	command := exec.Command(c.program, append(args, "--data", c.data)...)
	command.Env, command.Stderr = withoutSettings(), &failed
	printed, err := command.Output()
	require.NoError(c, err, "%s", &failed)
	return string(printed)
}

// withoutSettings returns the environment without settings of leasehold.
func withoutSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LEASEHOLD_") || strings.HasPrefix(v, "mode=") || strings.HasPrefix(v, "host=")
	})
}

// start starts it, and returns when it is ready.
func (c *coordinator) start() {
	c.Helper()
	c.running = exec.Command(c.program, append([]string{"coordinator", "--data", c.data, "--listen", c.gate, "--http", c.api}, c.flags...)...)
	c.running.Env = withoutSettings()
	c.running.Stdout, c.running.Stderr = &c.printed, &c.printed
	require.NoError(c, c.running.Start())
	anyServer := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	require.Eventually(c, func() bool {
		r, err := anyServer.Get(c.url() + "/readyz")
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	}, limit, 20*time.Millisecond, "%s", &c.printed)
}

// kill ends it at once.
func (c *coordinator) kill() {
	c.Helper()
	require.NoError(c, c.running.Process.Kill())
	_ = c.running.Wait() // it was killed
	c.running = nil
}
