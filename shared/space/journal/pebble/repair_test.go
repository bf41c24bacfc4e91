package pebble_test

import (
	"path"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal/pebble"
)

func TestFault09ARepairKeepsWhatIsBeforeTheDamage(t *testing.T) {
	t.Parallel()
	f, name, begins := crashed(t, 6, 60)
	for n := range 5 {
		fs := f.flipped(name, 8*(begins[n]+30)).disk(t)
		c := pebble.Config{Dir: dir, FS: fs, Log: quiet}
		done, err := pebble.Repair(c)
		require.NoError(t, err)
		require.Contains(t, done.Damage, name)
		require.Equal(t, n, int(done.Kept))
		require.Equal(t, 6-n-1, done.Lost)
		require.Equal(t, f.flipped(name, 8*(begins[n]+30)), folderOf(t, under{fs, done.Copy}), "all is copied as it was")
		requireHeld(t, folderOf(t, fs), n, "repaired")

		again, err := pebble.Repair(c)
		require.NoError(t, err)
		require.Equal(t, pebble.Repaired{Kept: done.Kept}, again, "there is nothing more to repair")
	}
}

func TestFault10ARepairEndsWhereALogIsMissing(t *testing.T) {
	t.Parallel()
	f := worn(t)
	logs := f.named(".log")
	fs := f.with(logs[len(logs)-1], nil).disk(t)
	done, err := pebble.Repair(pebble.Config{Dir: dir, FS: fs, Log: quiet})
	require.NoError(t, err)
	require.Contains(t, done.Damage, "the newest log is missing")
	requireHeld(t, folderOf(t, fs), int(done.Kept), "repaired")

	refused := 0
	for _, table := range f.named(".sst") {
		if _, err = pebble.Repair(pebble.Config{Dir: dir, FS: f.with(table, nil).disk(t), Log: quiet}); err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			refused++
		}
	}
	require.Positive(t, refused, "the content of a table is unknown")
}

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
