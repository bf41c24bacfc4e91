//go:build linux

package pebble_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// mount returns a disk of size bytes, which needs root.
func mount(t *testing.T, size int) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "disk")
	require.NoError(t, os.Mkdir(at, 0o755))
	require.NoError(t, syscall.Mount("tmpfs", at, "tmpfs", 0, fmt.Sprint("size=", size)), "a small disk is mounted by root only")
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(at, syscall.MNT_DETACH)) })
	return at
}

// listed counts how often a folder was listed. While no session puts, only the sweeper
// lists it, each time that it has tried to rewrite the tables.
type listed struct {
	vfs.FS
	times atomic.Int64
}

func (l *listed) List(dir string) ([]string, error) {
	l.times.Add(1)
	return l.FS.List(dir)
}

func (l *listed) Unwrap() vfs.FS { return l.FS }

// crowd is a space on a small disk.
type crowd struct {
	space.Space
	t    *testing.T
	disk string
	fs   *listed
	rand *rand.ChaCha8
	stop func()
}

// newCrowd starts an engine on a real file system of size bytes.
func newCrowd(t *testing.T, size int) *crowd {
	c := &crowd{t: t, disk: mount(t, size), fs: &listed{FS: vfs.Default}, rand: rand.NewChaCha8([32]byte{byte(size >> 20)})}
	c.start()
	t.Cleanup(func() { c.stop() })
	return c
}

// start opens the journal and starts an engine over it; stop ends both, once. The space may not
// fit a full disk.
func (c *crowd) start() {
	c.t.Helper()
	j, err := pebble.Open(pebble.Config{Dir: filepath.Join(c.disk, "journal"), FS: c.fs, Log: quiet})
	require.NoError(c.t, err)
	e, err := engine.Open(c.t.Context(), engine.Config{Journal: j, Procedures: spacetest.Procedures(), Log: quiet})
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	c.stop = func() {
		cancel()
		require.NoError(c.t, errors.Join(<-done, j.Close()))
		c.stop = func() {}
	}
	r, err := e.Session(c.t.Context(), "crowd", 0)
	require.NoError(c.t, err)
	if err := r.Create(c.t.Context(), "s", space.Options{}); err != nil {
		require.ErrorIs(c.t, err, fault.ErrOverloaded)
	}
	c.Space = r.Space("s")
}

// put puts what cannot be made smaller.
func (c *crowd) put() error {
	data := make([]byte, 500)
	_, _ = c.rand.Read(data)
	return c.PutP(c.t.Context(), tuple.New("item", hex.EncodeToString(data)), 0)
}

// fill puts until a put is refused although three sweeps have freed the space of tuples that are gone, however long
// they take here, and returns how many there are.
func (c *crowd) fill() (n int) {
	c.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for sweeps := int64(0); sweeps < 3; {
		if err := c.put(); err != nil {
			require.ErrorIs(c.t, err, fault.ErrOverloaded)
			before := c.fs.times.Load()
			<-again.C
			sweeps += c.fs.times.Load() - before
			continue
		}
		n, sweeps = n+1, 0
	}
	return n
}

// take takes n tuples.
func (c *crowd) take(n int) {
	c.t.Helper()
	for i := range n {
		_, ok, err := c.GetP(c.t.Context(), tuple.Match("item", tuple.AnyString))
		require.NoError(c.t, err, "take %d of %d", i, n)
		require.True(c.t, ok)
	}
}

// recovers waits until a put is let in.
func (c *crowd) recovers() {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return c.put() == nil }, 2*time.Minute, 20*time.Millisecond)
	c.take(1)
}

// fillRest fills the rest of the disk.
func (c *crowd) fillRest() (leave func()) {
	c.t.Helper()
	path := filepath.Join(c.disk, "rest")
	f, err := os.Create(path)
	require.NoError(c.t, err)
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	require.ErrorIs(c.t, err, syscall.ENOSPC)
	require.NoError(c.t, f.Close())
	return func() { require.NoError(c.t, os.Remove(path)) }
}

// On a real small disk puts are refused in time, so that takes always go on; a second round has
// about the same space, also after a restart on a full disk.
func TestFault12ASmallDiskIsFilledEmptiedAndFilledAgain(t *testing.T) {
	t.Parallel()
	for _, size := range []int{32 * mib} {
		t.Run(fmt.Sprint(size/mib), func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, size)
			n := c.fill()
			c.take(n)
			c.recovers()
			again := c.fill()
			require.Greater(t, 2*again, n, "tuples that are gone take no space")

			leave := c.fillRest()
			require.ErrorIs(t, c.put(), fault.ErrOverloaded)
			c.take(again)
			leave()
			c.recovers()

			n = c.fill()
			leave = c.fillRest()
			c.stop()
			c.start()
			require.ErrorIs(t, c.put(), fault.ErrOverloaded)
			c.take(n / 2)
			leave()
			c.recovers()
			c.take(n - n/2)
		})
	}
}

func TestFault12ATinyDiskIsRefusedWithWhatIsNeeded(t *testing.T) {
	t.Parallel()
	_, err := pebble.Open(pebble.Config{Dir: filepath.Join(mount(t, 256<<10), "journal"), Log: quiet})
	require.ErrorIs(t, err, fault.ErrFolder)
	require.ErrorContains(t, err, "256 KiB is too small for a journal, which needs 2.0 MiB")
}
