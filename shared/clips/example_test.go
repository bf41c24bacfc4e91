package clips_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"leasehold/shared/clips"
	"leasehold/shared/clips/bench/set"
)

// rustle returns noise of the given length in seconds. Another seed gives other noise.
func rustle(seed uint64, seconds int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, seconds*clips.RateHz)
	for i := range x {
		x[i] = float32(.1 * r.NormFloat64())
	}
	return x
}

// Example looks for a clip in a recording, which may be of any format.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	jingle, episode := rustle(1, 2), rustle(2, 60)
	copy(episode[12*clips.RateHz:], jingle)
	path := filepath.Join(dir, "episode.wav")
	if err := set.WriteWAV(path, episode, clips.RateHz); err != nil {
		fmt.Println(err)
		return
	}

	index := clips.NewIndex()
	if err := index.Add(clips.Clip{ID: "jingle", Samples: jingle}); err != nil {
		fmt.Println(err)
	}
	sound, err := clips.Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sound.Close()
	for f, err := range index.Match(context.Background(), sound, clips.Options{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.ID, "at", f.Start(), "for", f.Duration().Round(time.Millisecond))
	}
	// Output: jingle at 12s for 2s
}
