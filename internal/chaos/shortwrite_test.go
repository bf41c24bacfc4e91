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
)

// limit sets how large a file of the coordinator may become; "unlimited" takes the
// limit away.
func (h *house) limit(bytes string) {
	h.t.Helper()
	out, err := exec.Command("prlimit", "--pid", fmt.Sprint(h.cmd.Process.Pid), "--fsize="+bytes+":").CombinedOutput()
	require.NoError(h.t, err, string(out))
}

// logged is where the log's records end, and only zeros follow.
func (h *house) logged() int {
	h.t.Helper()
	log, err := os.ReadFile(h.log())
	require.NoError(h.t, err)
	return len(bytes.TrimRight(log, "\x00"))
}

// Strace stops the coordinator behind the first write of each of its threads. A
// limit lets only a part of that write through, and is gone when it goes on: what
// it sees is a short write, and nothing else.
func TestFault15AShortWriteIsGoneOnWith(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	h.mustStart()
	h.fill(10)
	c := h.mustDial("client", survives)
	require.NoError(t, <-putNote(c, 100))
	before := h.logged()
	const let = 20 // bytes, of a record that has more
	s := h.inject("write", "signal=SIGSTOP:when=1")
	h.limit(fmt.Sprint(before + let))
	answered := putNote(c, 101)
	eventually(t, "it is stopped", func() bool { return strings.Contains(s.output(), "stopped by SIGSTOP") })
	cut := h.logged()
	require.True(t, before < cut && cut <= before+let, "the write was short: from %d to %d", before, cut)
	h.limit("unlimited")
	s.signal(syscall.SIGTERM) // strace detaches; the coordinator stays stopped
	<-s.done
	require.NoError(t, syscall.Kill(h.cmd.Process.Pid, syscall.SIGCONT))
	require.NoError(t, <-answered)
	for n := range int64(20) {
		require.NoError(t, <-putNote(c, n+200))
	}
	h.kill()
	h.mustStart()
	require.Equal(t, 32, h.notes(), "there is no hole")
}

// A write that takes nothing, and says so, is none that can be gone on with.
func TestFault15AWriteOfNothingEndsTheCoordinatorAndNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, quick...)
	h.mustStart()
	h.fill(10)
	c := h.mustDial("client", survives)
	h.inject("write", "retval=0:when=1")
	answered := putNote(c, 100)
	require.NotZero(t, h.code())
	require.NotContains(t, h.output(), "goroutine ", "an error, and no crash")
	require.False(t, acknowledged(answered))
	h.mustStart()
	require.Contains(t, []int{10, 11}, h.notes(), "it may be repeated by now")
}
