package fingerprint_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
)

func noise(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(int16(3000*r.NormFloat64())) / 32767 // rounded to 16 bits
	}
	return x
}

// of returns a fill function that pushes samples in blocks.
func of(samples []float32) func(func([]float32) error) error {
	return func(push func([]float32) error) error {
		for block := range slices.Chunk(samples, 1000) {
			if err := push(block); err != nil {
				return err
			}
		}
		return nil
	}
}

func open(t testing.TB, max int64) (*fingerprint.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := fingerprint.Open(dir, max)
	require.NoError(t, err)
	return s, dir
}

func put(t testing.TB, s *fingerprint.Store, key string, samples []float32) {
	t.Helper()
	e, err := s.Put(key, of(samples))
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

// every hash there is.
func every() landmark.Hashes {
	all := landmark.NewHashes()
	for h := range uint32(1 << landmark.HashBits) {
		all.Add(h)
	}
	return all
}

func TestOnlySomeHashesAreAskedFor(t *testing.T) {
	t.Parallel()
	s, _ := open(t, 1<<30)
	x := noise(1, 30_000)
	e, err := s.Put("k", of(x))
	require.NoError(t, err)
	all, some := landmark.Of(x), landmark.NewHashes()
	some.Add(all[100].Hash)
	want := slices.DeleteFunc(slices.Clone(all), func(l landmark.Landmark) bool { return l.Hash != all[100].Hash })
	require.Equal(t, want, marks(t, e.Of(some)))
	require.Empty(t, marks(t, e.Of(landmark.NewHashes())))
	require.NoError(t, e.Close())
}

func TestWhatIsKeptIsWhatWasPut(t *testing.T) {
	t.Parallel()
	s, _ := open(t, 1<<30)
	x := noise(1, 30_000)
	made, err := s.Put("k", of(x))
	require.NoError(t, err)
	got, err := s.Get("k")
	require.NoError(t, err)
	for _, e := range []*fingerprint.Episode{made, got} {
		require.Equal(t, len(x), e.Samples)
		require.Equal(t, landmark.Of(x), marks(t, e.Of(every())))
		part := make([]float32, 500)
		for _, at := range []int{0, 12345} {
			require.NoError(t, e.ReadAt(part, at))
			require.Equal(t, x[at:at+500], part)
		}
		require.NoError(t, e.ReadAt(part, -100))
		require.Equal(t, x[:400], part[100:])
		require.NoError(t, e.ReadAt(part, len(x)+1))
		require.Equal(t, make([]float32, 500), part)
		require.NoError(t, e.Close())
	}
	none, err := s.Get("other")
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestAnEntryThatWasCutOrChangedIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{".marks", ".pcm"} {
		for name, spoil := range map[string]func([]byte) []byte{
			"cut in half":     func(b []byte) []byte { return b[:len(b)/2] },
			"emptied":         func([]byte) []byte { return nil },
			"a byte too much": func(b []byte) []byte { return append(b, 0) },
			"another version": func(b []byte) []byte { b[8] = 9; return b },
		} {
			if suffix == ".pcm" && name == "another version" {
				continue // it has none
			}
			s, dir := open(t, 1<<30)
			x := noise(2, 20_000)
			put(t, s, "k", x)
			files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
			require.NoError(t, err)
			require.Len(t, files, 1)
			content, err := os.ReadFile(files[0])
			require.NoError(t, err)
			spoiled := spoil(content)
			if name == "another version" {
				_, err := fingerprint.Decode(bytes.NewReader(spoiled), int64(len(spoiled)))
				require.ErrorContains(t, err, "an entry of version 9; this program reads version 1")
			}
			require.NoError(t, os.WriteFile(files[0], spoiled, 0o600))
			e, err := s.Get("k")
			require.NoError(t, err)
			require.Nil(t, e, "%s %s", suffix, name)
			put(t, s, "k", x)
			e, err = s.Get("k")
			require.NoError(t, err)
			require.NotNil(t, e, "%s %s", suffix, name)
			require.NoError(t, e.Close())
		}
	}
}

func TestTheBoundIsKeptSoundsFirstThoseUsedLongestAgo(t *testing.T) {
	t.Parallel()
	const n = 50_000
	s, dir := open(t, 5*n) // two sounds and some landmarks
	put(t, s, "a", noise(1, n))
	put(t, s, "b", noise(2, n))
	old := time.Now().Add(-time.Hour)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Chtimes(f, old, old))
	}
	e, err := s.Get("a") // used now
	require.NoError(t, err)
	put(t, s, "c", noise(3, n))
	require.NoError(t, e.ReadAt(make([]float32, 10), 0))
	require.NoError(t, e.Close())
	for key, sound := range map[string]bool{"a": true, "b": false, "c": true} {
		e, err := s.Get(key)
		require.NoError(t, err)
		require.NotNil(t, e, key)
		require.Equal(t, sound, e.HasSound(), key)
		if !sound {
			require.ErrorIs(t, e.ReadAt(make([]float32, 1), 0), os.ErrNotExist)
		}
		require.NoError(t, e.Close())
	}
}

func TestNothingIsLeftOfWhatFails(t *testing.T) {
	t.Parallel()
	s, dir := open(t, 1<<20)
	gone := errors.New("gone")
	_, err := s.Put("k", func(push func([]float32) error) error {
		require.NoError(t, push(noise(1, 1000)))
		return gone
	})
	require.ErrorIs(t, err, gone)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "part-1"), nil, 0o600)) // left by a killed process
	_, err = fingerprint.Open(dir, 1<<20)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = fingerprint.Open(filepath.Join("/dev/null", "x"), 1)
	require.Error(t, err)
}

func TestAnyLandmarksGoThroughTheCode(t *testing.T) {
	t.Parallel()
	s, _ := open(t, 1<<30)
	rapid.Check(t, func(t *rapid.T) {
		x := noise(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 12000).Draw(t, "samples"))
		for i := range min(len(x), rapid.IntRange(0, 12000).Draw(t, "silence")) {
			x[i] = 0
		}
		e, err := s.Put("k", of(x))
		require.NoError(t, err)
		require.Equal(t, landmark.Of(x), marks(t, e.Of(every())))
		require.NoError(t, e.Close())
	})
}

// TestALongEpisodeIsReadPieceByPiece checks that ten hours of landmarks allocate no more than
// one hour.
func TestALongEpisodeIsReadPieceByPiece(t *testing.T) {
	const perHour = 100_000 // an eighth of the real number, so that the test is short
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var took [2]uint64
	for i, hours := range []int{1, 10} {
		path := filepath.Join(t.TempDir(), "entry")
		made := allocated(func() {
			require.NoError(t, fingerprint.Write(path, hours*3600*8000, func(add func(landmark.Landmark)) {
				for n := range hours * perHour {
					add(landmark.Landmark{Hash: uint32(n*7919) % (1 << landmark.HashBits), Frame: n * 4})
				}
			}))
		})
		read := 0
		took[i] = made + allocated(func() {
			f, err := os.Open(path)
			require.NoError(t, err)
			info, err := f.Stat()
			require.NoError(t, err)
			l, err := fingerprint.Decode(f, info.Size())
			require.NoError(t, err)
			for _, err := range l.Of(every()) {
				require.NoError(t, err)
				read++
			}
			require.NoError(t, f.Close())
		})
		require.Equal(t, hours*perHour, read)
	}
	require.Less(t, took[0], uint64(1<<20))
	require.InDelta(t, took[0], took[1], 1<<16, "bytes for one hour, and for ten")
}

func TestAnEntryThatCannotBeReadToItsEndIsAnErrorAndNotItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "entry")
	require.NoError(t, fingerprint.Write(path, 8000*3600, func(add func(landmark.Landmark)) {
		for n := range 50_000 {
			add(landmark.Landmark{Frame: n})
		}
	}))
	entry, err := os.ReadFile(path)
	require.NoError(t, err)
	r := &breaking{Reader: bytes.NewReader(entry), after: 1 << 30}
	l, err := fingerprint.Decode(r, int64(len(entry)))
	require.NoError(t, err)
	r.after = len(entry) / 2
	n := 0
	for _, err = range l.Of(every()) {
		n++
	}
	require.ErrorIs(t, err, errBroken)
	require.Greater(t, n, 1000)
	_, err = fingerprint.Decode(r, int64(len(entry)))
	require.ErrorIs(t, err, errBroken)
	require.NotErrorIs(t, err, fault.ErrCorrupt, "it is the disk that fails, not the entry")
}

var errBroken = errors.New("input/output error")

// breaking is a disk that fails to read beyond a number of bytes.
type breaking struct {
	*bytes.Reader
	after int
}

func (b *breaking) ReadAt(p []byte, at int64) (int, error) {
	if int(at)+len(p) > b.after {
		return 0, errBroken
	}
	return b.Reader.ReadAt(p, at)
}

// marks are some of an entry.
func marks(t require.TestingT, some iter.Seq2[landmark.Landmark, error]) (all []landmark.Landmark) {
	for m, err := range some {
		require.NoError(t, err)
		all = append(all, m)
	}
	return all
}

// FuzzDecode reads any bytes as an entry. It also reads them behind a head with the right check
// sum, because otherwise the check sum would reject nearly all of them.
func FuzzDecode(f *testing.F) {
	s, dir := open(f, 1<<20)
	put(f, s, "k", noise(1, 9000))
	files, err := filepath.Glob(filepath.Join(dir, "*.marks"))
	require.NoError(f, err)
	entry, err := os.ReadFile(files[0])
	require.NoError(f, err)
	f.Add(entry)
	f.Add(entry[:len(entry)/2])
	f.Add(entry[24:])
	f.Add(append(entry[24:len(entry):len(entry)], "cut\x03\x00"...))
	f.Add([]byte(nil))
	f.Add(bytes.Repeat([]byte{0, 255, 1}, 100_000))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, entry := range [][]byte{b, append(fingerprint.Head(false, 9000, b), b...), append(fingerprint.Head(true, 9000, b), b...)} {
			l, err := fingerprint.Decode(bytes.NewReader(entry), int64(len(entry)))
			last := 0
			if err == nil {
				for m, failed := range l.Of(every()) {
					if err = failed; err == nil {
						require.True(t, m.Frame >= last && m.Frame*64 <= l.Samples && m.Hash < 1<<landmark.HashBits)
						last = m.Frame
					}
				}
			}
			if err != nil {
				require.ErrorIs(t, err, fault.ErrCorrupt)
			}
		}
	})
}

func Example() {
	dir, err := os.MkdirTemp("", "fingerprints")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(dir)
	store, err := fingerprint.Open(dir, 1<<30)
	if err != nil {
		fmt.Println(err)
	}
	sound := make([]float32, 3600*80)
	if _, err := store.Put("sha256:9c1e", of(sound)); err != nil {
		fmt.Println(err)
	}
	e, err := store.Get("sha256:9c1e")
	fmt.Println(e.Samples, "samples are kept,", err)
	// Output: 288000 samples are kept, <nil>
}

func TestARecordingThatBreaksOffIsKeptWithTheReason(t *testing.T) {
	t.Parallel()
	s, _ := open(t, 1<<30)
	const reason = fingerprint.Broken("truncated: the sound breaks off at 0:02.00")
	put, err := s.Put("k", func(push func([]float32) error) error {
		require.NoError(t, push(noise(1, 16000)))
		return fmt.Errorf("decode: %w", reason)
	})
	require.NoError(t, err)
	got, err := s.Get("k")
	require.NoError(t, err)
	whole, err := s.Put("whole", of(noise(1, 16000)))
	require.NoError(t, err)
	want := marks(t, whole.Of(every()))
	require.NotEmpty(t, want)
	for _, e := range []*fingerprint.Episode{put, got} {
		require.Equal(t, string(reason), e.Broken)
		require.Equal(t, 16000, e.Samples)
		require.Equal(t, want, marks(t, e.Of(every())))
		require.NoError(t, e.Close())
	}
	require.Empty(t, whole.Broken)
	require.NoError(t, whole.Close())
}
