package locate

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
)

// configOf loads the settings of some flags.
func configOf(t *testing.T, args ...string) config.Config {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.BindFlags(flags, "data", "host", "http")
	require.NoError(t, flags.Parse(args))
	cfg, err := config.Load(flags)
	require.NoError(t, err)
	return cfg
}

func TestACoordinatorIsWhereTheUserSaysElseWhereTheFileDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, datadir.AddressFile), []byte(`{"pid":7,"gate":"127.0.0.1:1","http":"127.0.0.1:2"}`), 0o600))
	for name, c := range map[string]struct {
		args []string
		want string
		said bool
	}{
		"the file":                          {[]string{"--data", dir}, "http://127.0.0.1:2", false},
		"nothing":                           {[]string{"--data", t.TempDir()}, "", false},
		"a host and http":                   {[]string{"--host", "coordinator", "--http", "127.0.0.1:9"}, "http://127.0.0.1:9", true},
		"http alone":                        {[]string{"--data", dir, "--http", "127.0.0.1:9"}, "http://127.0.0.1:9", true},
		"http at every address":             {[]string{"--host", "coordinator", "--http", "0.0.0.0:9"}, "http://coordinator:9", true},
		"every address, and no better host": {[]string{"--host", "0.0.0.0", "--http", "[::]:9"}, "http://localhost:9", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Find(t.Context(), configOf(t, c.args...))
			require.NoError(t, err)
			require.Equal(t, c.want, f.API)
			require.Equal(t, c.said, f.Named)
		})
	}
}

func TestTheSettingHTTPNamesTheAPIForACommandWithoutAHost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	listens, dir := l.Addr().String(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, datadir.AddressFile), []byte(`{"http":"127.0.0.1:2"}`), 0o600))
	for name, c := range map[string]struct{ http, data, want string }{
		"it listens":      {listens, dir, "http://" + listens},
		"no address file": {"127.0.0.1:9", t.TempDir(), "http://127.0.0.1:9"},
		"it does not listen, as --http was another": {"127.0.0.1:9", dir, "http://127.0.0.1:2"},
		"any port": {"127.0.0.1:0", dir, "http://127.0.0.1:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LEASEHOLD_HTTP", c.http)
			f, err := Find(t.Context(), configOf(t, "--data", c.data))
			require.NoError(t, err)
			require.Equal(t, c.want, f.API)
			require.False(t, f.Named)
		})
	}
}

func TestACommandWithoutACoordinatorInItsFolderAsksTheDefaultHost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = e.Run(ctx) })
	running.Go(func() { _ = native.New(native.Config{Engine: e, HTTP: "127.0.0.1:9"}).Serve(ctx, l) })
	t.Setenv("LEASEHOLD_DATA", t.TempDir())
	cfg := configOf(t)
	cfg.Hosts = []string{l.Addr().String()} // as if it were the default
	f, err := FindDefault(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:9", f.API)

	cfg = configOf(t, "--data", t.TempDir())
	cfg.Hosts = []string{l.Addr().String()}
	f, err = FindDefault(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, f.API, "the folder that the command names has no coordinator")
}

func TestAWorkerWithoutAHostJoinsTheCoordinatorOfItsDataFolder(t *testing.T) {
	t.Parallel()
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = gate.Close() }) // after the parallel subtests
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for name, c := range map[string]struct {
		file, host, want string
	}{
		"the coordinator of the folder runs": {`{"gate":"` + gate.Addr().String() + `"}`, "", gate.Addr().String()},
		"it has crashed":                     {`{"gate":"` + closed.Addr().String() + `"}`, "", "localhost:7411"},
		"a host is set":                      {`{"gate":"` + gate.Addr().String() + `"}`, "far:7000", "far:7000"},
		"the default is set":                 {`{"gate":"` + gate.Addr().String() + `"}`, "localhost", "localhost:7411"},
		"the file is not JSON":               {`{"gate":`, "", "localhost:7411"},
		"the file names no gate":             {`{}`, "", "localhost:7411"},
		"no file":                            {"", "", "localhost:7411"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--data", t.TempDir()}
			if c.file != "" {
				require.NoError(t, os.WriteFile(filepath.Join(args[1], datadir.AddressFile), []byte(c.file), 0o600))
			}
			if c.host != "" {
				args = append(args, "--host", c.host)
			}
			require.Equal(t, []string{c.want}, ChooseGates(t.Context(), configOf(t, args...)))
		})
	}
}

func TestAnAnnouncedAddressIsReachedFromWhereTheGateIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ gate, http, want string }{
		"both here":                  {"localhost:7411", "127.0.0.1:9", "http://127.0.0.1:9"},
		"everywhere":                 {"far:7411", "[::]:9", "http://far:9"},
		"everywhere, here":           {"127.0.0.1:7411", "0.0.0.0:9", "http://127.0.0.1:9"},
		"everywhere, as was dialled": {"0.0.0.0:7411", "0.0.0.0:9", "http://localhost:9"},
		"its own loopback":           {"far:7411", "127.0.0.1:9", "http://far:9"},
		"another address of it":      {"far:7411", "10.0.0.7:9", "http://10.0.0.7:9"},
		"an address of six":          {"[::1]:7411", "[::]:9", "http://[::1]:9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, ReachableAPI(c.gate, c.http))
		})
	}
}

func TestAHostIsAskedWhereItsAPIIs(t *testing.T) {
	t.Parallel()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = e.Run(ctx) })
	gate := native.New(native.Config{Engine: e, HTTP: "0.0.0.0:9"})
	running.Go(func() { _ = gate.Serve(ctx, l) })
	f, err := Find(t.Context(), configOf(t, "--host", l.Addr().String()))
	require.NoError(t, err)
	require.Equal(t, Endpoint{API: "http://127.0.0.1:9", Named: true, file: f.file}, f)
	f, err = Find(t.Context(), configOf(t, "--host", "127.0.0.1:1,"+l.Addr().String()))
	require.NoError(t, err, "one of several serves")
	require.Equal(t, "http://127.0.0.1:9", f.API)
	f, err = Find(t.Context(), configOf(t, "--host", "localhost:1,"+l.Addr().String()))
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:9,http://localhost:9", f.API, "the other one may take over")

	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	running.Go(func() {
		if c, err := other.Accept(); err == nil {
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n")
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	})
	_, err = Find(t.Context(), configOf(t, "--host", other.Addr().String()))
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "is not a coordinator's gate")
	_, err = Find(t.Context(), configOf(t, "--host", "127.0.0.1:1")) // which nobody is given
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "connection refused")
}

func TestAFileThatDoesNotSayWhereIsNoCoordinator(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]error{"": fault.ErrUnavailable, "[]": fault.ErrUnavailable, "{}": nil, `{"http":""}`: nil} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, datadir.AddressFile), []byte(content), 0o600))
		f, err := Find(t.Context(), configOf(t, "--data", dir))
		require.ErrorIs(t, err, want, content)
		require.Empty(t, f.API)
	}
	cfg := configOf(t, "--data", filepath.Join(t.TempDir(), "none"))
	f, err := Find(t.Context(), cfg)
	require.NoError(t, err)
	require.Empty(t, f.API)
}

func TestTheErrorOfACoordinatorThatStandsByNeedsNoExplanation(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{`{"http":"127.0.0.1:2"}`: true, `{"http":"127.0.0.1:2","standby":true}`: false} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, datadir.AddressFile), []byte(content), 0o600))
		e, err := Find(t.Context(), configOf(t, "--data", dir))
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(e.Explain(fault.ErrUnavailable).Error(), "which is stale"), content)
	}
}
