//go:build linux

package chaos

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

// limit sets the greatest size of the coordinator's files in bytes, or "unlimited".
func (h *fixture) limit(bytes string) {
	h.t.Helper()
	out, err := exec.Command("prlimit", "--pid", fmt.Sprint(h.Pid()), "--fsize="+bytes+":").CombinedOutput()
	require.NoError(h.t, err, string(out))
}

// recordsEnd returns the offset in the log after which only zeros follow.
func (h *fixture) recordsEnd() int {
	h.t.Helper()
	log, err := os.ReadFile(h.journalLog())
	require.NoError(h.t, err)
	return len(bytes.TrimRight(log, "\x00"))
}

// Strace stops the coordinator after the first write of each of its threads. A file size
// limit lets only part of that write through and is lifted before the coordinator
// continues, so it sees a short write and nothing else.
func TestFault15AShortWriteIsGoneOnWith(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(10)
	c := h.mustDial("client", longTTL)
	require.NoError(t, <-putNote(c, 100))
	before := h.recordsEnd()
	const allowed = 20 // bytes, fewer than the record has
	s := h.inject("write", "signal=SIGSTOP:when=1")
	h.limit(fmt.Sprint(before + allowed))
	answered := putNote(c, 101)
	binary.Eventually(t, "it is stopped", func() bool { return strings.Contains(s.Output(), "stopped by SIGSTOP") })
	cut := h.recordsEnd()
	require.True(t, before < cut && cut <= before+allowed, "the write was short: from %d to %d", before, cut)
	h.limit("unlimited")
	s.Signal(syscall.SIGTERM) // strace detaches; the coordinator stays stopped
	<-s.Done()
	require.NoError(t, syscall.Kill(h.Pid(), syscall.SIGCONT))
	require.NoError(t, <-answered)
	for n := range int64(20) {
		require.NoError(t, <-putNote(c, n+200))
	}
	h.Kill()
	h.mustStart()
	require.Equal(t, 32, h.notes(), "there is no hole")
}

// A write that returns 0 cannot be continued.
func TestFault15AWriteOfNothingEndsTheCoordinatorAndNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fastDetection...)
	h.mustStart()
	h.fill(10)
	c := h.mustDial("client", longTTL)
	h.inject("write", "retval=0:when=1")
	answered := putNote(c, 100)
	require.NotZero(t, h.Code())
	require.NotContains(t, h.Output(), "goroutine ", "an error, and no crash")
	require.False(t, acknowledged(answered))
	h.mustStart()
	require.Contains(t, []int{10, 11}, h.notes(), "it may be repeated by now")
}
