package pebble_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

// crashed is what a process leaves that committed n records and was killed, without the
// zeros at the end of the log, and where in it each record begins.
func crashed(t testing.TB, n, size int) (f folder, name string, begins []int) {
	t.Helper()
	fs := vfs.NewMem()
	j := open(t, pebble.Config{Dir: dir, FS: fs})
	name = folderOf(t, fs).named(".log")[0]
	records := func() []byte { return bytes.TrimRight(folderOf(t, fs)[name], "\x00") }
	for i := range n {
		begins = append(begins, len(records()))
		fill(t, j, i, i+1, size)
	}
	return folderOf(t, fs).with(name, records()), name, begins
}

// requireHeld sees that exactly the first n of the tuples are there.
func requireHeld(t testing.TB, f folder, n int, msg string) {
	t.Helper()
	position, refs, err := try(f.disk(t))
	require.NoError(t, err, msg)
	require.Equal(t, n, int(position), msg)
	require.Len(t, refs, n, msg)
	require.True(t, n == 0 || refs[1] && refs[int64(n)], msg)
}

// requireRefused sees that a damage is named, and what to do about it.
func requireRefused(t testing.TB, f folder, file, msg string) {
	t.Helper()
	_, _, err := try(f.disk(t))
	require.ErrorIs(t, err, fault.ErrCorrupt, msg)
	require.ErrorContains(t, err, file, msg)
	require.ErrorContains(t, err, "leasehold repair --data .", msg)
}

func TestFault08ATornLastRecordIsDropped(t *testing.T) {
	t.Parallel()
	for _, size := range []int{60, 35_000} {
		f, name, begins := crashed(t, 6, size)
		whole := f[name]
		step := max(1, size/50) // every byte of a short file
		for cut := begins[4]; cut < len(whole); cut += step {
			kept := 4
			if cut >= begins[5] {
				kept = 5
			}
			requireHeld(t, f.with(name, whole[:cut]), kept, fmt.Sprintf("cut at %d", cut))
		}
	}
}

// When the power fails, any pages of the one record that was not synced may be missing;
// there are zeros then, as behind it.
func TestFault08ALastRecordOfWhichAnyPagesAreMissingIsDropped(t *testing.T) {
	t.Parallel()
	const page = 4 << 10
	f, name, begins := crashed(t, 6, 35_000)
	last, first := begins[5], begins[5]/page*page
	pages := (len(f[name]) - first + page - 1) / page
	for _, missing := range append(rand.New(rand.NewPCG(8, 8)).Perm(1 << pages)[:100], 1, 1<<(pages-1)) {
		if missing == 0 {
			continue
		}
		torn := append(append([]byte{}, f[name]...), make([]byte, 3*page)...)
		for n := range pages {
			if missing>>n&1 == 1 {
				clear(torn[max(last, first+n*page):min(len(f[name]), first+(n+1)*page)])
			}
		}
		requireHeld(t, f.with(name, torn), 5, fmt.Sprintf("pages %b", missing))
	}
}

func TestALogIsFilledAheadOfItsRecords(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	j := open(t, pebble.Config{Dir: dir, FS: fs})
	grown := map[int]bool{}
	for n := range 40 {
		fill(t, j, n, n+1, 20_000)
		f := folderOf(t, fs)
		log := f[f.named(".log")[0]]
		ahead := len(log) - len(bytes.TrimRight(log, "\x00"))
		require.True(t, ahead > 0 && ahead < 300<<10, "%d bytes are zero", ahead)
		grown[len(log)] = true
	}
	require.Less(t, len(grown), 6, "a log grows seldom")
	position, n := held(t, j)
	require.Equal(t, 40, int(position))
	require.Equal(t, 40, n)
}

func TestFault08WhatWasTornIsSaidOnce(t *testing.T) {
	t.Parallel()
	f, name, begins := crashed(t, 3, 60)
	var said bytes.Buffer
	fs := f.with(name, f[name][:begins[2]+9]).disk(t)
	for range 2 {
		j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: slog.New(slog.NewTextHandler(&said, nil))})
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
	require.Equal(t, 1, strings.Count(said.String(), "level=WARN"), said.String())
	require.Contains(t, said.String(), fmt.Sprintf("file=journal/%s offset=%d bytes=9", name, begins[2]))
}

func TestFault09AFlippedBitDropsTheLastRecordAndRefusesAllOthers(t *testing.T) {
	t.Parallel()
	for _, size := range []int{60, 35_000} {
		f, name, begins := crashed(t, 4, size)
		step := 8*len(f[name])/120 | 1
		for bit := 0; bit < 8*len(f[name]); bit += step {
			msg := fmt.Sprintf("bit %d of byte %d, of %d, records begin at %v", bit%8, bit/8, len(f[name]), begins)
			if bit/8 >= begins[3] {
				requireHeld(t, f.flipped(name, bit), 3, msg)
			} else {
				requireRefused(t, f.flipped(name, bit), name+" at offset ", msg)
			}
		}
	}
}

func TestFault10WhatIsZeroOrEmptyIsNoDamage(t *testing.T) {
	t.Parallel()
	f, name, begins := crashed(t, 3, 60)
	for _, zeros := range []int{1, 10, 11, 100, 40_000, 70_000} {
		requireHeld(t, f.with(name, append(append([]byte{}, f[name]...), make([]byte, zeros)...)), 3, "behind the last record")
		torn := append(append([]byte{}, f[name][:begins[2]+20]...), make([]byte, zeros)...)
		requireHeld(t, f.with(name, torn), 2, "behind a torn record")
	}
	requireHeld(t, f.with(name, []byte{}), 0, "an empty log")
	requireHeld(t, f.with("000099.log", []byte{}), 3, "a log that was just made")
}

// A file that the store was about to remove may be missing, and then nothing else is; every
// other one is missed, by name.
func TestFault10AFileThatIsMissingOrThereTwiceIsRefused(t *testing.T) {
	t.Parallel()
	f := worn(t)
	logs := f.named(".log")
	require.NotEmpty(t, logs) // one that lacks between others is TestFault10ALogThatIsMissingBetweenOthersIsRefused
	last := logs[len(logs)-1]
	requireRefused(t, f.with(last, nil), last, "the newest log")
	for _, name := range logs[:len(logs)-1] {
		if position, refs, err := try(f.with(name, nil).disk(t)); err == nil { // it was about to be removed
			require.Equal(t, wornRecords, int(position))
			require.Len(t, refs, wornRecords)
		} else {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, "a log is missing")
		}
	}
	requireRefused(t, f.with("000999.log", f[last]), "000999.log", "the newest log twice")
	refused := 0
	for _, name := range f.named(".sst") {
		position, refs, err := try(f.with(name, nil).disk(t))
		if err == nil { // it was about to be removed
			require.Equal(t, wornRecords, int(position))
			require.Len(t, refs, wornRecords)
			continue
		}
		refused++
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, strings.TrimSuffix(name, ".sst"))
	}
	require.Positive(t, refused)
	_, _, err := try(f.with("FORMAT", nil).disk(t))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "FORMAT")
}

func TestFault10ALogThatIsMissingBetweenOthersIsRefused(t *testing.T) {
	t.Parallel()
	tables := &noTables{FS: vfs.NewMem()}
	fs := &smallDisk{FS: tables}
	fs.total.Store(2 << 20)
	fs.free.Store(2 << 20)
	j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.NoError(t, err)
	n := 0
	for len(folderOf(t, fs).named(".log")) < 2 {
		fill(t, j, n, n+1, 100)
		n++
	}
	f := folderOf(t, fs)
	tables.fit.Store(true)
	require.NoError(t, j.Close())
	logs := f.named(".log")
	requireHeld(t, f, n, "whole")
	requireRefused(t, f.with(logs[0], nil), logs[1]+" at offset 0", "the first is missing")
	requireRefused(t, f.with(logs[0], []byte{}), logs[1]+" at offset 0", "the first is empty")
	requireRefused(t, f.with(logs[0], f[logs[0]][:len(f[logs[0]])/2]), logs[0], "the first is cut short")
}

// noTables is a disk on which a table does not fit yet.
type noTables struct {
	vfs.FS
	fit atomic.Bool
}

// Create refuses tables as a full disk does, until they fit.
func (n *noTables) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".sst") && !n.fit.Load() {
		return nil, syscall.ENOSPC
	}
	return n.FS.Create(name, c)
}

// wornRecords is how many records a worn journal has.
const wornRecords = 1500

// worn is what a process leaves that worked for long on a small disk: tables,
// and one log or more.
func worn(t testing.TB) folder {
	t.Helper()
	fs := &smallDisk{FS: vfs.NewMem()}
	fs.total.Store(2 << 20)
	fs.free.Store(2 << 20)
	j, err := pebble.Open(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.NoError(t, err)
	fill(t, j, 0, wornRecords, 100)
	f := folderOf(t, fs)
	require.NoError(t, j.Close())
	return f.with("RESERVE", nil)
}

// TestAFlippedBitNeverGoesUnnoticed flips bits all over: each loaded fact is right but for the last record, or
// nothing is loaded.
func TestAFlippedBitNeverGoesUnnoticed(t *testing.T) {
	t.Parallel()
	f := worn(t)
	for name, content := range f {
		if name == "LOCK" {
			continue
		}
		for bit := 5; bit < 8*len(content); bit += max(97, 8*len(content)/12) {
			msg := fmt.Sprintf("bit %d of byte %d of %s (%d bytes)", bit%8, bit/8, name, len(content))
			position, refs, err := try(f.flipped(name, bit).disk(t))
			if err != nil {
				require.True(t, isAnyOf(err, fault.ErrCorrupt, fault.ErrInvalid), "%s: %v", msg, err)
				continue
			}
			require.GreaterOrEqual(t, int(position), wornRecords-1, msg)
			require.Len(t, refs, int(position), msg)
		}
	}
}
