package clips_test

import (
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips"
	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/spectrum"
)

// live returns the size of the heap in bytes after all garbage is collected.
func live() int {
	runtime.GC()
	runtime.GC() // frees the objects that the first one only queued for finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// slackBytes is the most by which the live heap may differ between two places of an episode.
const slackBytes = 1 << 20

// endless plays bed for a number of rounds, and calls at after each round.
type endless struct {
	bed          []float32
	next, rounds int
	at           func(round int)
}

func (e *endless) Read(dst []float32) (int, error) {
	if e.next == e.rounds*len(e.bed) {
		return 0, io.EOF
	}
	n := copy(dst, e.bed[e.next%len(e.bed):])
	e.next += n
	if e.next%len(e.bed) == 0 {
		e.at(e.next / len(e.bed))
	}
	return n, nil
}

// TestAStreamTakesNoMoreMemoryTheLongerItIs compares the live heap after one minute and after
// four. Each round has the clips in it. The samples of three minutes take 6 MB. The test is not
// parallel, because all tests share the heap.
func TestAStreamTakesNoMoreMemoryTheLongerItIs(t *testing.T) {
	x := clips.NewIndex()
	bed := rustle(1, 32)
	for n := range 3 {
		clip := rustle(uint64(10+n), 2)
		require.NoError(t, x.Add(clips.Clip{ID: "c", Samples: clip}))
		copy(bed[(5+10*n)*clips.RateHz:], clip)
	}
	heap := map[int]int{}
	sound := &endless{bed: bed, rounds: 8, at: func(round int) {
		if round&(round-1) == 0 {
			heap[round] = live()
		}
	}}
	found := 0
	for _, err := range x.Match(t.Context(), sound, clips.Options{}) {
		require.NoError(t, err)
		found++
	}
	require.Equal(t, 3*sound.rounds, found)
	t.Log(heap)
	require.InDelta(t, heap[2], heap[8], slackBytes)
}

// TestAKnownEpisodeTakesNoMoreMemoryTheLongerItIs compares the live heap after 20 minutes of
// landmarks with that after 200. The landmarks are random, so some match clips everywhere.
func TestAKnownEpisodeTakesNoMoreMemoryTheLongerItIs(t *testing.T) {
	x := clips.NewIndex()
	for n := range 5 {
		require.NoError(t, x.Add(clips.Clip{ID: "c", Samples: rustle(uint64(10+n), 5)}))
	}
	index, err := x.Build()
	require.NoError(t, err)
	const part = 20 * 60 * clips.RateHz
	heap := map[int]int{}
	e := match.Known{Samples: 10 * part, Sound: silence{}, Landmarks: scattered(10*part/spectrum.Hop, func(frame int) {
		if frame*spectrum.Hop%part == 0 {
			heap[frame*spectrum.Hop/part] = live()
		}
	})}
	require.NoError(t, match.FindKnown(t.Context(), index, e, clips.Options{}, func(clips.Finding) error { return nil }))
	t.Log(heap)
	require.Len(t, heap, 10)
	require.InDelta(t, heap[1], heap[10], slackBytes)
}

// scattered yields those of two random landmarks in each frame that the caller asks for, and
// calls at after each frame.
func scattered(frames int, at func(frame int)) func(landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
	return func(some landmark.Hashes) iter.Seq2[landmark.Landmark, error] {
		return func(yield func(landmark.Landmark, error) bool) {
			r := rand.New(rand.NewPCG(4, 4))
			for n := range 2 * frames {
				l := landmark.Landmark{Hash: r.Uint32N(1 << landmark.HashBits), Frame: n / 2}
				if some.Has(l.Hash) && !yield(l, nil) {
					return
				}
				if n%2 == 1 {
					at(n/2 + 1)
				}
			}
		}
	}
}

// silence is silence of any length.
type silence struct{}

func (silence) ReadAt(dst []float32, _ int) error { clear(dst); return nil }
