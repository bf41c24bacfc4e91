package pebble_test

import (
	"bytes"
	"path"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/tuple"
)

// Flips a bit in each of the records of a log: the one record is lost, all others are kept, and
// a second repair finds nothing. Without the first record, which makes the space, nothing can be
// kept.
func TestFault09ARepairKeepsWhatIsBeforeAndBehindTheDamage(t *testing.T) {
	t.Parallel()
	f, name, begins := crashed(t, 6, 60)
	for n := range 5 {
		damaged := f.flipped(name, 8*(begins[n]+30))
		fs := damaged.disk(t)
		c := pebble.Config{Dir: dir, FS: fs, Log: quiet}
		found, err := pebble.Diagnose(c)
		require.Equal(t, damaged, folderOf(t, fs), "a diagnosis changes nothing")
		if n == 0 {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, `the options of the space "s" were in the damaged part`)
			continue
		}
		require.NoError(t, err)
		require.Contains(t, found.Damage, name)
		require.Equal(t, []pebble.Gap{{From: journal.Position(n), To: journal.Position(n + 1)}}, found.Gaps)
		require.Equal(t, 1, found.LostTuples)
		require.Equal(t, 5, found.Tuples)
		require.EqualValues(t, 6, found.Kept)

		done, err := pebble.Repair(c)
		require.NoError(t, err)
		require.Equal(t, damaged, folderOf(t, under{fs, done.Copy}), "all is kept as it was")
		position, refs, err := try(fs)
		require.NoError(t, err)
		require.EqualValues(t, 6, position)
		require.Len(t, refs, 5)
		require.False(t, refs[int64(n+1)])

		again, err := pebble.Repair(c)
		require.NoError(t, err)
		require.Empty(t, again.Damage, "there is nothing more to repair")
		require.Empty(t, again.Copy)
		require.Equal(t, 5, again.Tuples)
	}
}

// A record is lost, and the next batch puts three tuples. They are there, so that only the one of
// the lost record counts.
func TestTuplesOfTheBatchBehindAGapDoNotCountAsLost(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	j := open(t, pebble.Config{Dir: dir, FS: fs})
	name := folderOf(t, fs).named(".log")[0]
	fill(t, j, 0, 1, 60)
	begin := len(bytes.TrimRight(folderOf(t, fs)[name], "\x00"))
	fill(t, j, 1, 2, 60)
	var records []journal.Record
	for ref := int64(3); ref <= 5; ref++ {
		records = append(records, journal.Record{Facts: []journal.Fact{&journal.Entry{Ref: ref, Space: "s", Tuple: tuple.New("a")}}})
	}
	require.NoError(t, j.Commit(t.Context(), 2, records))
	found, err := pebble.Diagnose(pebble.Config{Dir: dir, FS: folderOf(t, fs).flipped(name, 8*(begin+30)).disk(t), Log: quiet})
	require.NoError(t, err)
	require.Equal(t, 4, found.Tuples)
	require.Equal(t, 1, found.LostTuples)
}

func TestFault10ARepairEndsWhereALogIsMissing(t *testing.T) {
	t.Parallel()
	f := worn(t)
	logs := f.named(".log")
	fs := f.with(logs[len(logs)-1], nil).disk(t)
	done, err := pebble.Repair(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.NoError(t, err)
	require.Contains(t, done.Damage, "the newest log is missing")
	require.True(t, done.Open, "how many records it had is unknown")
	requireHeld(t, folderOf(t, fs), int(done.Kept), "repaired")

	refused := 0
	for _, table := range f.named(".sst") {
		if _, err = pebble.Repair(pebble.Config{Dir: dir, FS: f.with(table, nil).disk(t), Log: quiet}); err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			require.ErrorContains(t, err, table)
			refused++
		}
	}
	require.Positive(t, refused, "the content of a table is unknown")
}

func TestARepairThatWasInterruptedIsFinishedByTheNextStart(t *testing.T) {
	t.Parallel()
	fs := worn(t).disk(t)
	require.NoError(t, fs.Rename(dir, dir+".repaired"))
	position, refs, err := try(fs)
	require.NoError(t, err)
	require.EqualValues(t, wornRecords, position)
	require.Len(t, refs, wornRecords)
}

// Copies are made while another goroutine commits. Each must hold a prefix of the records, and
// later commits to a copy must not change the original, as they could if both shared files.
func TestFault17ACopyIsAJournalOfItsOwn(t *testing.T) {
	t.Parallel()
	fs := worn(t).disk(t)
	j := open(t, pebble.Config{Dir: dir, FS: fs})
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		n := wornRecords
		defer func() { stopped <- n }()
		for {
			select {
			case <-stop:
				return
			default:
				fill(t, j, n, n+1, 100)
				n++
			}
		}
	}()
	for _, to := range []string{"copy-1", "copy-2", "copy-3"} {
		require.NoError(t, j.Copy(t.Context(), to))
	}
	close(stop)
	last := <-stopped
	at := wornRecords
	for _, from := range []string{"copy-1", "copy-2", "copy-3"} {
		copied := open(t, pebble.Config{Dir: from, FS: fs})
		position, n := held(t, copied)
		require.Equal(t, n, int(position), "it is a prefix")
		require.GreaterOrEqual(t, n, at)
		require.LessOrEqual(t, n, last)
		at = n
		fill(t, copied, n, n+5, 100)
	}
	_, n := held(t, j)
	require.Equal(t, last, n, "the original is as it was")
}

// busy is a file system on which something happens whenever a piece of a log was read.
type busy struct {
	vfs.FS
	meanwhile func()
}

// Open returns a log read piece by piece, between which the test commits.
func (b busy) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := b.FS.Open(name, opts...)
	if err == nil && path.Ext(name) == ".log" {
		f = piecemeal{f, b.meanwhile}
	}
	return f, err
}

type piecemeal struct {
	vfs.File
	meanwhile func()
}

func (p piecemeal) Read(b []byte) (int, error) {
	defer p.meanwhile()
	return p.File.Read(b[:min(len(b), 64)])
}

func TestFault17ALogThatIsWrittenWhileItIsCopiedIsCopiedUpToAMoment(t *testing.T) {
	t.Parallel()
	mem := vfs.NewMem()
	var j *pebble.Journal
	n, reads := 0, -1 // not yet
	more := func(records int) {
		fill(t, j, n, n+records, 100)
		n += records
	}
	j = open(t, pebble.Config{Dir: dir, FS: busy{mem, func() {
		switch {
		case reads < 0:
			return
		case reads == 40:
			more(1)
		case reads == 100: // where nothing was yet, and on
			more(100)
		}
		reads++
	}}})
	more(20)
	reads = 0
	require.NoError(t, j.Copy(t.Context(), "copy"))
	require.Greater(t, reads, 40)
	position, copied := held(t, open(t, pebble.Config{Dir: "copy", FS: mem}))
	require.Equal(t, 20, copied, "what was there when the copy began")
	require.Equal(t, copied, int(position))
}

// under shows another folder in the place of a journal's.
type under struct {
	vfs.FS
	dir string
}

func (u under) List(string) ([]string, error) { return u.FS.List(u.dir) }

func (u under) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	return u.FS.Open(u.FS.PathJoin(u.dir, u.FS.PathBase(name)), opts...)
}
