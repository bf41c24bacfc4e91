package versus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tick is the unit of the processor times in /proc.
const tick = 10 * time.Millisecond

// use is the resource use of a process so far.
type use struct {
	cpu      time.Duration
	switches int64 // context switches
}

// cost is the cost of items: for a server, and for its clients, which are all in this
// process.
type cost struct {
	server, clients use
	items           int64
}

func (c *cost) add(before, after cost, items int64) {
	c.server.add(before.server, after.server)
	c.clients.add(before.clients, after.clients)
	c.items += items
}

func (u *use) add(before, after use) {
	u.cpu += after.cpu - before.cpu
	u.switches += after.switches - before.switches
}

func (c cost) String() string {
	return "server " + c.server.each(c.items) + ", client " + c.clients.each(c.items)
}

func (u use) each(items int64) string {
	return fmt.Sprintf("%.1f µs, %.1f switches", float64(u.cpu.Microseconds())/float64(items), float64(u.switches)/float64(items))
}

func costOf(b *testing.B, server int) cost {
	return cost{server: useOf(b, server), clients: useOf(b, os.Getpid())}
}

// useOf reads the use of the current threads of a process, and the processor time of its
// ended threads.
func useOf(b *testing.B, pid int) (u use) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	_, stats, _ := strings.Cut(string(stat), ") ")
	user, system := 0, 0
	_, err = fmt.Sscan(strings.Join(strings.Fields(stats)[11:13], " "), &user, &system)
	require.NoError(b, err)
	u.cpu = time.Duration(user+system) * tick
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	require.NoError(b, err)
	for _, path := range threads {
		status, _ := os.ReadFile(path) // the thread may have ended
		for line := range strings.Lines(string(status)) {
			var n int64
			if name, count, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "ctxt_switches") {
				_, err = fmt.Sscan(count, &n)
				require.NoError(b, err)
				u.switches += n
			}
		}
	}
	return u
}
