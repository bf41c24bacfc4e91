package pebble_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/space/journal/pairing"
	"leasehold/shared/space/journal/pebble"
)

var errInjected = errors.New("input/output error")

// failsOnce is a disk on which the n-th operation that counts fails; with 0 none does. done is how many there were.
func failsOnce(fs vfs.FS, n int64, counts func(errorfs.Op) bool) (disk vfs.FS, done *atomic.Int64) {
	done = &atomic.Int64{}
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if counts(op) && done.Add(1) == n {
			return fmt.Errorf("%s: %w", op.Path, errInjected)
		}
		return nil
	})), done
}

func anyOperation(errorfs.Op) bool { return true }

// reads are the operations that change nothing. The store does not outlive a write that fails, so
// these are tested with processes that end (opening_test.go).
func reads(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsRead }

// inCopy are the operations on the copy of a journal.
func inCopy(op errorfs.Op) bool { return strings.Contains(op.Path, "copy") }

// attempt does something with the journal on a disk that may fail, and checks on the disk itself
// that it is done, unless it returns an error.
type attempt struct {
	folder folder
	counts func(errorfs.Op) bool
	run    func(t *testing.T, c pebble.Config, disk vfs.FS) error
}

// A disk that fails once must not make a journal look empty, whole, or repaired: each operation
// either returns an error and can be repeated, or has done its work.
func TestEachFileOperationThatFailsIsReportedOrDoesNoHarm(t *testing.T) {
	t.Parallel()
	whole := worn(t)
	log := whole.named(".log")[0]
	damaged := whole.flipped(log, 8*(len(whole[log])/2))
	found, err := pebble.Diagnose(pebble.Config{Dir: dir, FS: damaged.disk(t), Log: quiet})
	require.NoError(t, err)
	kept := found.Tuples
	for name, a := range map[string]attempt{
		"open": {whole, reads, func(t *testing.T, c pebble.Config, disk vfs.FS) error {
			position, refs, err := try(c.FS)
			require.True(t, err != nil || position == wornRecords && len(refs) == wornRecords, "position %d, %d tuples", position, len(refs))
			return err
		}},
		"diagnose a whole one": {whole, anyOperation, func(t *testing.T, c pebble.Config, _ vfs.FS) error {
			found, err := pebble.Diagnose(c)
			require.True(t, err != nil || found.Damage != "" || found.Tuples == wornRecords, "%+v", found)
			return err
		}},
		"diagnose a damaged one": {damaged, anyOperation, func(t *testing.T, c pebble.Config, _ vfs.FS) error {
			found, err := pebble.Diagnose(c)
			require.True(t, err != nil || found.Damage != "" && found.Tuples == kept, "%+v", found)
			return err
		}},
		"repair": {damaged, reads, func(t *testing.T, c pebble.Config, disk vfs.FS) error {
			_, err := pebble.Repair(c)
			if err == nil {
				_, refs, err := try(disk)
				require.NoError(t, err)
				require.Len(t, refs, kept)
			}
			return err
		}},
		"copy": {whole, inCopy, func(t *testing.T, c pebble.Config, disk vfs.FS) error {
			j, err := pebble.Open(c)
			require.NoError(t, err)
			require.NoError(t, disk.RemoveAll("copy"))
			err = j.Copy(t.Context(), "copy")
			require.NoError(t, j.Close())
			if err == nil {
				copied, err := pebble.Diagnose(pebble.Config{Dir: "copy", FS: disk, Log: quiet})
				require.NoError(t, err)
				require.Empty(t, copied.Damage)
				require.Equal(t, wornRecords, copied.Tuples)
			}
			return err
		}},
		"find and write the mark": {whole, anyOperation, testMark},
	} {
		t.Run(name, a.test)
	}
}

func testMark(t *testing.T, c pebble.Config, disk vfs.FS) error {
	mark := pairing.Mark{Instance: "i", Counter: 7, At: time.Unix(5, 0), Other: "o"}
	found, err := pebble.FindMark(c)
	if err == nil {
		require.Equal(t, pairing.Present, found.State)
		err = pebble.WriteMark(c, mark)
	}
	if err == nil {
		found, err := pebble.FindMark(pebble.Config{Dir: c.Dir, FS: disk})
		require.NoError(t, err)
		require.Equal(t, mark, found.Mark)
	}
	return err
}

var failures = flag.Int64("failures", 12, "operations that fail, at most, evenly chosen of those of each attempt")

// test makes an attempt without a failure, and then with a failure of each of the chosen operations.
func (a attempt) test(t *testing.T) {
	reported, all := 0, int64(1)
	for n := int64(0); n <= all; n += 1 + all / *failures {
		disk := a.folder.disk(t)
		failing, done := failsOnce(disk, n, a.counts)
		err := a.run(t, pebble.Config{Dir: dir, FS: failing, Log: quiet}, disk)
		if n == 0 {
			require.NoError(t, err)
			all = done.Load()
		} else if err != nil {
			reported++
			require.NoError(t, a.run(t, pebble.Config{Dir: dir, FS: disk, Log: quiet}, disk), "it is repeated after: %v", err)
		}
	}
	require.NotZero(t, reported, "%d operations", all)
	t.Logf("%d failures were reported, of %d operations", reported, all)
}
