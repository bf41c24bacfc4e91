package platform_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/platform"
)

// create returns an open file with a content.
func create(t *testing.T, content string) *os.File {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return open(t, path)
}

// open opens a file, which ends with the test.
func open(t *testing.T, path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() }) // a test may have closed it
	return f
}

func TestOneHandleLocksAFile(t *testing.T) {
	first := create(t, "")
	second := open(t, first.Name())
	locked, err := platform.LockFile(first)
	require.NoError(t, err)
	require.True(t, locked)
	locked, err = platform.LockFile(second)
	require.NoError(t, err)
	require.False(t, locked, "while another handle has the lock")
	require.NoError(t, first.Close())
	locked, err = platform.LockFile(second)
	require.NoError(t, err)
	require.True(t, locked, "after the other handle is closed")
}

func TestALockedFileCanBeRead(t *testing.T) {
	f := create(t, "pid 12")
	locked, err := platform.LockFile(f)
	require.NoError(t, err)
	require.True(t, locked)
	content, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.Equal(t, "pid 12", string(content))
}

func TestAMappingOutlivesItsFile(t *testing.T) {
	f := create(t, "mapped bytes")
	image, err := platform.MapFile(f, len("mapped"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, "mapped", string(image))
	require.NoError(t, platform.UnmapFile(image))
	_, err = platform.MapFile(f, 1)
	require.ErrorContains(t, err, f.Name())
}

func TestChildrenOfACommandEndWithIt(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, sh, "-c", "sleep 1000 & echo started; wait")
	platform.KillWithChildren(c)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line := make([]byte, len("started\n"))
	_, err = out.Read(line)
	require.NoError(t, err)
	cancel()
	// The pipe ends only when the child of the shell, which has it too, has ended.
	n, err := out.Read(line)
	require.Zero(t, n)
	require.Error(t, err)
	require.Error(t, c.Wait())
}

func TestTheSystemTellsItsLimits(t *testing.T) {
	files, ok := platform.MaxOpenFiles()
	require.True(t, ok)
	require.Greater(t, files, uint64(16))
	free, err := platform.FreeSpace(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, free)
	_, err = platform.FreeSpace(filepath.Join(t.TempDir(), "absent"))
	require.ErrorContains(t, err, "absent")
}

func TestProcessorTimeGrows(t *testing.T) {
	before := platform.ProcessorTime()
	for platform.ProcessorTime() < before+20*time.Millisecond {
		_ = strings.Repeat("work", 1<<16)
	}
	require.Greater(t, platform.ProcessorTime(), before)
}

func TestAnUnnamedFileIsGoneWhenItIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := platform.CreateUnnamed(dir, "x-*")
	require.NoError(t, err)
	_, err = f.WriteString("kept")
	require.NoError(t, err)
	content := make([]byte, 4)
	_, err = f.ReadAt(content, 0)
	require.NoError(t, err)
	require.Equal(t, "kept", string(content))
	require.NoError(t, f.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = platform.CreateUnnamed(filepath.Join(dir, "absent"), "x-*")
	require.ErrorContains(t, err, "absent")
}

func TestFilesAndFoldersAreSynced(t *testing.T) {
	t.Parallel()
	f := create(t, "content")
	require.NoError(t, platform.SyncFile(f.Name()))
	require.NoError(t, platform.SyncDir(filepath.Dir(f.Name())))
	require.ErrorContains(t, platform.SyncFile(f.Name()+"-absent"), "absent")
}
