package fingerprint_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
)

// notes returns a function that pushes some seconds of noise, which has landmarks.
func notes(seed uint64, seconds int) func(push func([]float32) error) error {
	return func(push func([]float32) error) error {
		r := rand.New(rand.NewPCG(seed, 1))
		samples := make([]float32, seconds*8000)
		for i := range samples {
			samples[i] = .1 * float32(r.NormFloat64())
		}
		return push(samples)
	}
}

func putNoise(t require.TestingT, s *fingerprint.Store, key string, seed uint64, seconds int) {
	e, err := s.Put(key, notes(seed, seconds))
	require.NoError(t, err)
	require.NoError(t, e.Close())
}

// found is all that Search finds of keys, by key.
func found(t require.TestingT, s *fingerprint.Store, keys []string, some landmark.Hashes) (all map[string][]landmark.Landmark, unknown []int) {
	all = map[string][]landmark.Landmark{}
	unknown, err := s.Search(keys, some, func(err error) { require.NoError(t, err) }, func(i int, k fingerprint.Known) error {
		list := []landmark.Landmark{}
		for l, err := range k.Landmarks(some) {
			require.NoError(t, err)
			list = append(list, l)
		}
		all[keys[i]] = list
		return nil
	})
	require.NoError(t, err)
	return all, unknown
}

// oneByOne is what the entry of each key has.
func oneByOne(t require.TestingT, s *fingerprint.Store, keys []string, some landmark.Hashes) map[string][]landmark.Landmark {
	all := map[string][]landmark.Landmark{}
	for _, key := range keys {
		e, err := s.Get(key)
		require.NoError(t, err)
		if e == nil {
			continue
		}
		list := []landmark.Landmark{}
		for l, err := range e.Of(some) {
			require.NoError(t, err)
			list = append(list, l)
		}
		all[key] = list
		require.NoError(t, e.Close())
	}
	return all
}

func segments(t require.TestingT, dir string) []string {
	list, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	return list
}

func TestASearchOfSegmentsYieldsTheLandmarksOfEachEntryInTheirOrder(t *testing.T) {
	t.Parallel()
	for seed, share := range []float64{0, .001, .05, .1, 1} {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		dir := t.TempDir()
		s, err := fingerprint.Open(dir, 1<<30)
		require.NoError(t, err)
		s.SetSegmentBytes(1_000 + r.Int64N(2_000))
		n := 1 + r.IntN(6)
		var keys []string
		for i := range n {
			putNoise(t, s, fmt.Sprint(i), uint64(i), 1+r.IntN(4))
			keys = append(keys, fmt.Sprint(i))
		}
		if seed%2 == 0 {
			s, err = fingerprint.Open(dir, 1<<30)
			require.NoError(t, err)
		}
		keys = append(keys, "unknown", keys[0]) // two recordings with the same content
		some := landmark.NewHashes()
		for h := range uint32(1 << landmark.HashBits) {
			if r.Float64() < share {
				some.Add(h)
			}
		}
		all, unknown := found(t, s, keys, some)
		require.Equal(t, []int{n}, unknown)
		require.Equal(t, oneByOne(t, s, keys, some), all)
	}
}

func TestASegmentIsBuiltAsEpisodesComeAndSufficesWithoutTheirEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := fingerprint.Open(dir, 1<<30)
	require.NoError(t, err)
	s.SetSegmentBytes(2_000)
	keys := []string{"a", "b", "c", "d"}
	for i, key := range keys {
		putNoise(t, s, key, uint64(i), 4)
	}
	require.NotEmpty(t, segments(t, dir))
	some := landmark.NewHashes()
	for h := uint32(0); h < 1<<landmark.HashBits; h += 50 {
		some.Add(h)
	}
	want := oneByOne(t, s, keys, some)
	for _, path := range func() []string { l, _ := filepath.Glob(filepath.Join(dir, "*.marks")); return l }() {
		require.NoError(t, os.Remove(path))
	}
	all, unknown := found(t, s, keys, some)
	for _, i := range unknown { // was in no segment yet
		delete(want, keys[i])
	}
	require.NotEmpty(t, all)
	require.Equal(t, want, all)
}

func TestADamagedSegmentIsNamedAndBuiltAgain(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"cut":             func(b []byte) []byte { return b[:len(b)-1] },
		"a bit":           func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"empty":           func([]byte) []byte { return nil },
		"another version": func(b []byte) []byte { b[8]++; return b },
		"not a segment":   func([]byte) []byte { return []byte("something else, longer than the head") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := fingerprint.Open(dir, 1<<30)
			require.NoError(t, err)
			s.SetSegmentBytes(1_000)
			putNoise(t, s, "a", 1, 4)
			paths := segments(t, dir)
			require.Len(t, paths, 1)
			content, err := os.ReadFile(paths[0])
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(paths[0], damage(slices.Clone(content)), 0o600))
			s, err = fingerprint.Open(dir, 1<<30)
			require.NoError(t, err)
			s.SetSegmentBytes(1_000)
			var damaged []error
			some := landmark.NewHashes()
			searched := 0
			unknown, err := s.Search([]string{"a"}, some, func(err error) { damaged = append(damaged, err) }, func(int, fingerprint.Known) error { searched++; return nil })
			require.NoError(t, err)
			require.Empty(t, unknown)
			require.Equal(t, 1, searched)
			require.Len(t, damaged, 1)
			require.ErrorIs(t, damaged[0], fault.ErrCorrupt)
			require.ErrorContains(t, damaged[0], paths[0])
			if name == "another version" {
				require.ErrorContains(t, damaged[0], "a segment of version 2; this program reads version 1")
			}
			again, err := os.ReadFile(paths[0])
			require.NoError(t, err)
			require.Equal(t, content, again)
		})
	}
}

func TestEvictionSparesSegmentsLongest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := fingerprint.Open(dir, 1<<30)
	require.NoError(t, err)
	s.SetSegmentBytes(1_000)
	putNoise(t, s, "a", 1, 4)
	require.Len(t, segments(t, dir), 1)
	info, err := os.Stat(segments(t, dir)[0])
	require.NoError(t, err)
	small, err := fingerprint.Open(dir, info.Size()+100_000)
	require.NoError(t, err)
	putNoise(t, small, "b", 2, 4)
	_, unknown := found(t, small, []string{"a", "b"}, landmark.NewHashes())
	require.Empty(t, unknown, "its segment suffices")
	e, err := small.Get("a")
	require.NoError(t, err)
	require.True(t, e == nil || !e.HasSound())
	if e != nil {
		require.NoError(t, e.Close())
	}
}

func TestAnErrorOfTheUserEndsTheSearch(t *testing.T) {
	t.Parallel()
	s, err := fingerprint.Open(t.TempDir(), 1<<30)
	require.NoError(t, err)
	s.SetSegmentBytes(1_000)
	putNoise(t, s, "a", 1, 4)
	s.SetSegmentBytes(1 << 40)
	putNoise(t, s, "b", 1, 4)
	stop := errors.New("stop")
	for _, key := range []string{"a", "b"} {
		_, err := s.Search([]string{key}, landmark.NewHashes(), func(error) {}, func(int, fingerprint.Known) error { return stop })
		require.ErrorIs(t, err, stop)
	}
}
