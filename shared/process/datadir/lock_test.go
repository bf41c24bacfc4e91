package datadir_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
)

func TestADataFolderHasOneHolderAtATime(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "on", "demand")
	release, err := datadir.Lock(dir)
	require.NoError(t, err)

	_, err = datadir.Lock(dir)
	require.ErrorIs(t, err, fault.ErrConflict)
	require.ErrorContains(t, err, dir)
	require.ErrorContains(t, err, "process "+strconv.Itoa(os.Getpid())+" (", "the holder is named")

	require.NoError(t, release())
	release, err = datadir.Lock(dir)
	require.NoError(t, err)
	require.NoError(t, release())
}

func TestAHeldFolderIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		heldFor, waits time.Duration
		want           error
	}{
		"a free one":                            {0, 0, nil},
		"one of a command that ends in time":    {500 * time.Millisecond, 500 * time.Millisecond, nil},
		"one of a process that goes on":         {time.Hour, 2 * time.Second, fault.ErrConflict},
		"one that is held when the caller ends": {time.Hour, time.Second, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.want == context.Canceled {
					time.AfterFunc(c.waits, cancel)
				}
				if c.heldFor > 0 {
					release, err := datadir.Lock(dir)
					require.NoError(t, err)
					end := time.AfterFunc(c.heldFor, func() { _ = release() })
					defer func() {
						if end.Stop() {
							_ = release()
						}
					}()
				}
				var reasons []error
				start := time.Now()
				release, err := datadir.LockWithin(ctx, dir, 2*time.Second, func(reason error) { reasons = append(reasons, reason) })
				require.ErrorIs(t, err, c.want)
				require.InDelta(t, c.waits, time.Since(start), float64(100*time.Millisecond))
				if err == nil {
					require.NoError(t, release())
				}
				if c.heldFor == 0 {
					require.Empty(t, reasons)
					return
				}
				require.Len(t, reasons, 1, "the holder is named once")
				require.ErrorContains(t, reasons[0], "is in use by process")
			})
		})
	}
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := datadir.Lock(filepath.Join(file, "data"))
	require.ErrorContains(t, err, file)
	require.ErrorIs(t, err, fault.ErrFolder)

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink("nowhere", link))
	_, err = datadir.Lock(link)
	require.ErrorContains(t, err, "link is a symbolic link to nowhere, which leads to nothing")
	require.ErrorIs(t, err, fault.ErrFolder)
}
