package audio_test

import (
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/audio"
	"leasehold/shared/audio/landmark"
	"leasehold/shared/audio/match"
	"leasehold/shared/audio/spectrum"
)

// live is what the heap holds once all garbage is collected.
func live() int {
	runtime.GC()
	runtime.GC() // what the first one has only marked to be finalized
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// slackBytes is by how much the live heap may differ from one place of an episode to another.
const slackBytes = 1 << 20

// endless plays a bed over and over, and calls at when a round is over.
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
// four, of which each has the clips in it; the samples of three take 6 MB. It is not
// parallel: the heap is everybody's.
func TestAStreamTakesNoMoreMemoryTheLongerItIs(t *testing.T) {
	x := audio.NewIndex()
	bed := rustle(1, 32)
	for n := range 3 {
		clip := rustle(uint64(10+n), 2)
		require.NoError(t, x.Add(audio.Clip{ID: "c", Samples: clip}))
		copy(bed[(5+10*n)*audio.RateHz:], clip)
	}
	heap := map[int]int{}
	sound := &endless{bed: bed, rounds: 8, at: func(round int) {
		if round&(round-1) == 0 {
			heap[round] = live()
		}
	}}
	found := 0
	for _, err := range x.Match(t.Context(), sound, audio.Options{}) {
		require.NoError(t, err)
		found++
	}
	require.Equal(t, 3*sound.rounds, found)
	t.Log(heap)
	require.InDelta(t, heap[2], heap[8], slackBytes)
}

// TestAKnownEpisodeTakesNoMoreMemoryTheLongerItIs compares the live heap after 20 minutes of
// landmarks with that after 200. They are random, so some are of clips everywhere.
func TestAKnownEpisodeTakesNoMoreMemoryTheLongerItIs(t *testing.T) {
	x := audio.NewIndex()
	for n := range 5 {
		require.NoError(t, x.Add(audio.Clip{ID: "c", Samples: rustle(uint64(10+n), 5)}))
	}
	index, err := x.Build()
	require.NoError(t, err)
	const part = 20 * 60 * audio.RateHz
	heap := map[int]int{}
	e := match.Known{Samples: 10 * part, Sound: silence{}, Landmarks: scattered(10*part/spectrum.Hop, func(frame int) {
		if frame*spectrum.Hop%part == 0 {
			heap[frame*spectrum.Hop/part] = live()
		}
	})}
	require.NoError(t, match.FindKnown(t.Context(), index, e, audio.Options{}, func(audio.Finding) error { return nil }))
	t.Log(heap)
	require.Len(t, heap, 10)
	require.InDelta(t, heap[1], heap[10], slackBytes)
}

// scattered are two landmarks in each frame, of which only some are asked for; at is
// called after each frame.
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

// silence is a sound without end.
type silence struct{}

func (silence) ReadAt(dst []float32, _ int) error { clear(dst); return nil }
