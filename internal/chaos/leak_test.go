//go:build linux

package chaos

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// files counts the open files of the coordinator.
func (h *fixture) files() int {
	h.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.Pid()))
	require.NoError(h.t, err)
	return len(open)
}

// Row 60 of the catalogue of faults, for file descriptors: the store may open a few more
// logs or tables, but no connection may stay open.
func TestFault60SessionsThatComeAndGoLeaveNoFileOpen(t *testing.T) {
	onBoth(t, fastDetection, requireNoFileLeft)
}

func requireNoFileLeft(t *testing.T, h *fixture) {
	const sessions, store = 200, 10
	h.mustStart()
	h.fill(1)
	before := h.files()
	var all []*session
	for n := range sessions {
		c := h.mustDial("guest", longTTL)
		all = append(all, c)
		require.NoError(t, c.Space(notes).Put(within(t), tuple.New("note", int64(n)), 0))
		_, err := c.Space(notes).Get(within(t), anyNote)
		require.NoError(t, err)
	}
	require.Greater(t, h.files(), before+sessions-store, "each has one")
	for n, c := range all {
		if n%2 == 0 {
			require.NoError(t, c.close())
		} else {
			c.abandon()
		}
	}
	binary.Eventually(t, "the files are closed", func() bool { return h.files() <= before+store })
	last := h.mustDial("last", longTTL)
	require.NoError(t, last.Create(within(t), notes, space.Options{}), "it goes on")
}
