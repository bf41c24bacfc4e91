//go:build linux

package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/identity"
)

// fleet is a coordinator that authenticates its clients, and processes that join it. The test moves their clocks.
type fleet struct {
	*testing.T
	dir, lines string // folders of the coordinator, and of the join lines of services
	gate, http string
	clock      string // file with the offset of the coordinator's clock
	host       *binary.Process
	members    []*joined
}

// joined is a process of the fleet. It has a new folder at each start, unless keeps is its folder.
type joined struct {
	*binary.Process
	mode, keeps, clock string
	lineless           bool // started without its join line
}

// newFleet starts a coordinator, six workers and a manager by one secret for each mode, and a worker with a disk.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, dir: t.TempDir(), lines: filepath.Join(t.TempDir(), "lines"), gate: freeAddress(t), http: freeAddress(t), clock: filepath.Join(t.TempDir(), "clock")}
	made := binary.Start(t, nil, program, "invite", "--service", "worker", "manager", "--out", f.lines, "--addresses", f.gate, "--data", f.dir)
	require.Zero(t, made.Code(), made.Output())
	for range 6 {
		f.members = append(f.members, &joined{mode: "worker"})
	}
	f.members = append(f.members, &joined{mode: "manager"}, &joined{mode: "worker", keeps: t.TempDir()})
	f.startHost()
	f.restartAll()
	return f
}

// startHost starts the coordinator, or starts it again after it was killed.
func (f *fleet) startHost() {
	f.Helper()
	if f.host != nil {
		f.host.Kill()
	}
	f.host = binary.Start(f.T, append([]string{"CLOCK_OFFSET=" + f.clock}, fastDetection...), program, "coordinator", "--auth", "--listen", f.gate, "--http", f.http, "--data", f.dir)
}

// restartAll kills all processes that join at once, and starts them again.
func (f *fleet) restartAll() {
	f.Helper()
	for _, m := range f.members {
		if m.Process != nil {
			m.Signal(9)
		}
	}
	for _, m := range f.members {
		f.start(m)
	}
}

// start starts a process of the fleet after its last one has ended.
func (f *fleet) start(m *joined) {
	f.Helper()
	if m.Process != nil {
		m.Kill()
	}
	dir, clock := m.keeps, m.clock
	if dir == "" {
		dir = f.TempDir()
	}
	if clock == "" {
		clock = f.clock
	}
	args := []string{m.mode, "--data", dir}
	if !m.lineless {
		args = append(args, "--join", "@"+filepath.Join(f.lines, m.mode+".join"))
	}
	m.Process = binary.Start(f.T, append([]string{"CLOCK_OFFSET=" + clock, "host=" + f.gate}, fastDetection...), program, args...)
}

// requireBack waits until exactly the processes of the fleet have sessions.
func (f *fleet) requireBack(when string) {
	f.Helper()
	want := map[int]string{}
	for _, m := range f.members {
		want[m.Pid()] = m.mode
	}
	began := time.Now()
	binary.Eventually(f.T, "everybody is back "+when, func() bool {
		for _, m := range f.members {
			require.False(f, m.Ended(), "%s: a %s has ended: %s", when, m.mode, m.Process.Output())
		}
		require.False(f, f.host.Ended(), "%s: the coordinator has ended: %s", when, f.host.Output())
		after(50 * time.Millisecond) // asking takes time of the processors
		got := f.sessions()
		for pid, mode := range want {
			if got[pid] != mode {
				return false
			}
		}
		return len(got) == len(want)
	})
	f.Logf("%s: everybody is back after %.1f s", when, time.Since(began).Seconds())
}

// sessions returns the modes of the workers and managers that have a session, by process; none while the coordinator does
// not answer.
func (f *fleet) sessions() map[int]string {
	f.Helper()
	token, err := os.ReadFile(filepath.Join(f.dir, "identity", "admin.token"))
	require.NoError(f, err)
	api, err := client.NewWith("http://"+f.http, client.Options{Token: strings.TrimSpace(string(token))})
	require.NoError(f, err)
	defer api.Close()
	if api.Alive(f.Context()) != nil {
		return nil
	}
	all, err := client.List[types.OpenSession](f.Context(), api, "sessions", nil, client.PageSize, client.All)
	if err != nil {
		return nil
	}
	modes := map[int]string{}
	for _, s := range all.Items {
		if s.Mode == "worker" || s.Mode == "manager" {
			modes[s.PID] = s.Mode
		}
	}
	return modes
}

// set sets a clock to an offset.
func (f *fleet) set(clock string, offset time.Duration) {
	f.Helper()
	require.NoError(f, os.WriteFile(clock+".new", []byte(offset.String()), 0o600))
	require.NoError(f, os.Rename(clock+".new", clock))
}

// TestScaleSix has six workers without disks and with one secret, as `docker service scale workers=6` starts them, a
// manager, and a worker with a disk. Whatever happens to them, they come back without a person.
func TestScaleSix(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.requireBack("at the start")
	f.restartAll()
	f.requireBack("after a restart of all at once")
	f.startHost()
	f.requireBack("after a restart of the coordinator")
	f.move()
	f.shiftClocks()
	f.passEnds()
}

// move has the coordinator listen at another address, which its clients get as their host.
func (f *fleet) move() {
	f.gate = strings.Replace(f.gate, "127.0.0.1", "127.0.0.2", 1)
	f.startHost()
	f.restartAll()
	f.requireBack("after the coordinator has another address")
}

// shiftClocks has the clocks of some processes be an hour early, and of others an hour late.
func (f *fleet) shiftClocks() {
	for i, m := range f.members {
		m.clock = filepath.Join(f.TempDir(), "clock")
		f.set(m.clock, []time.Duration{-time.Hour + time.Minute, time.Hour - time.Minute}[i%2])
	}
	f.restartAll()
	f.requireBack("with clocks that differ by an hour")
	f.startHost()
	f.requireBack("after a restart of the coordinator with clocks that differ by an hour")
	for _, m := range f.members {
		m.clock = ""
	}
	f.restartAll()
}

// passEnds lets the ends of all certificates pass, for processes that run on and for those that are started again. The one
// with a disk is started again without its join line, which is enough for 30 days.
func (f *fleet) passEnds() {
	const day = 24 * time.Hour // the life of a certificate
	keeper := f.members[len(f.members)-1]
	f.requireBack("before the ends of certificates")
	key := f.key(keeper)
	now := time.Duration(0)
	for _, x := range []struct {
		when string
		by   time.Duration
	}{{"an hour", time.Hour}, {"31 days", 31 * day}, {"3 years", 3 * 365 * day}} {
		now += day + x.by
		f.set(f.clock, now)
		f.startHost()
		f.requireBack(x.when + " after the end, as they run")
		now += day + x.by
		f.set(f.clock, now)
		f.startHost()
		keeper.lineless = true
		f.restartAll()
		if x.by > 30*day {
			require.Equal(f, 77, keeper.Code(), keeper.Process.Output())
			require.Contains(f, keeper.Process.Output(), "it has no join line to join again: start it with --join")
			keeper.lineless = false
			f.start(keeper)
		}
		f.requireBack(x.when + " after the end, started again")
		require.Equal(f, key, f.key(keeper), "the process with a disk keeps its key")
		keeper.lineless = false
		f.start(keeper)
		f.requireBack(x.when + " after the end, with the join line again")
	}
}

// key returns the key file of a process with a disk.
func (f *fleet) key(m *joined) string {
	f.Helper()
	data, err := os.ReadFile(filepath.Join(m.keeps, m.mode+"-1", identity.KeyFile))
	require.NoError(f, err)
	return string(data)
}
