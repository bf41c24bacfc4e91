package platform_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/platform"
)

// runsCommand is the variable with which this test program runs a command instead of tests.
const runsCommand = "PLATFORM_TEST_RUNS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(runsCommand) == "" {
		os.Exit(m.Run())
	}
	c := exec.CommandContext(context.Background(), "sh", "-c", "echo started; exec sleep 60")
	c.Stdout = os.Stdout
	_ = platform.RunGroup(c, time.Second)
}

// The command has the pipe open as long as it runs.
func TestACommandEndsWithAProcessThatIsKilled(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	output, writer, err := os.Pipe()
	require.NoError(t, err)
	defer output.Close()
	parent := exec.CommandContext(t.Context(), self)
	parent.Env = append(os.Environ(), runsCommand+"=1")
	parent.Stdout = writer
	require.NoError(t, parent.Start())
	require.NoError(t, writer.Close())
	require.NoError(t, output.SetReadDeadline(time.Now().Add(20*time.Second)))
	lines := bufio.NewReader(output)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started\n", line)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait() // its error is the signal
	_, err = lines.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the command goes on")
}
