package exact_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leasehold/shared/clips/exact"
	"leasehold/shared/fault"
)

const second = exact.RateHz

// situation is an episode, and where the clip is in it.
type situation struct {
	name  string
	build func() []float32
	clip  []float32
	want  []int
}

func silence(seconds int) []float32 { return make([]float32, seconds*second) }

// plainly are situations of noise.
func plainly() []situation {
	clip := noise(1, second, .2)
	return []situation{
		{"an episode without the clip", func() []float32 { return noise(9, 20*second, .2) }, clip, []int{}},
		{"a silent episode", func() []float32 { return silence(10) }, clip, []int{}},
		{"in silence", func() []float32 { e := silence(10); mix(e, clip, 12345, 1); return e }, clip, []int{12345}},
		{"at the very start", func() []float32 { e := noise(9, 5*second, .1); mix(e, clip, 0, 1); return e }, clip, []int{0}},
		{"at the very end", func() []float32 { e := noise(9, 5*second, .1); mix(e, clip, 4*second, 1); return e }, clip, []int{4 * second}},
		{"it is the whole episode", func() []float32 { return clip }, clip, []int{0}},
		{"30 dB quieter", func() []float32 { e := silence(5); mix(e, clip, 777, .03); return e }, clip, []int{777}},
		{"12 dB louder", func() []float32 { e := noise(9, 5*second, .1); mix(e, clip, 777, 4); return e }, clip, []int{777}},
		{"under noise 2 dB louder", func() []float32 { e := noise(9, 9*second, .25); mix(e, clip, 7777, 1); return e }, clip, []int{7777}},
		{"twice, back to back", func() []float32 {
			e := noise(9, 5*second, .05)
			mix(e, clip, 4000, 1)
			mix(e, clip, 4000+second, 1)
			return e
		}, clip, []int{4000, 4000 + second}},
		{"begun again before it ended", func() []float32 {
			e := noise(9, 5*second, .05)
			mix(e, clip, 4000, 1)
			mix(e, clip, 4000+second*6/10, 1)
			return e
		}, clip, []int{4000, 4000 + second*6/10}},
	}
}

// trickily are situations of tones, offsets and cuts.
func trickily() []situation {
	clip, bell := noise(1, second, .2), tones(second/2, 700, 1130, 1910)
	return []situation{
		{"a tonal clip three times in a row", func() []float32 {
			e := noise(9, 5*second, .02)
			for i := range 3 {
				mix(e, bell, 4000+i*second/2, 1)
			}
			return e
		}, bell, []int{4000, 4000 + second/2, 4000 + second}},
		{"a chord that shares one tone of three", func() []float32 {
			e := noise(9, 5*second, .02)
			mix(e, tones(second, 700, 1300, 2200), 4000, 1)
			return e
		}, bell, []int{}},
		{"a chord of two that shares one", func() []float32 {
			e := noise(9, 5*second, .005)
			mix(e, tones(second, 440, 550), 4000, 1)
			return e
		}, tones(second/2, 440, 660), []int{}},
		{"only a hum at the clip's offset from zero", func() []float32 {
			e := silence(5)
			for i := range e {
				e[i] = .5
			}
			return e
		}, clip, []int{}},
		{"with an offset from zero", func() []float32 {
			e := silence(5)
			mix(e, clip, 999, .1)
			for i := range e {
				e[i] += .5
			}
			return e
		}, clip, []int{999}},
		{"cut by the episode's start", func() []float32 { e := noise(9, 5*second, .02); mix(e, clip, -800, 1); return e }, clip, []int{0}},
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range append(plainly(), trickily()...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := find(c.build(), exact.Options{}, loaded("c", c.clip))
			if err != nil || r["c"].Err != nil {
				t.Fatal(err, r["c"].Err)
			}
			if !slices.Equal(offsets(r["c"]), c.want) {
				t.Errorf("found %+v, want offsets %v", r["c"].Matches, c.want)
			}
			for _, m := range r["c"].Matches {
				if !(m.Score >= exact.DefaultThreshold && m.Score <= 1) || m.Length < 1 {
					t.Errorf("%+v", m)
				}
			}
		})
	}
}

func TestFindKeepsClipsApart(t *testing.T) {
	t.Parallel()
	episode := noise(9, 8*second, .05)
	a, b := noise(1, second, .2), noise(2, 2*second, .2)
	mix(episode, a, 10000, 1)
	mix(episode, b, 14000, 1) // overlaps a's second half
	r, err := find(episode, exact.Options{Group: 2}, loaded("a", a), loaded("silent", make([]float32, second)),
		loaded("b", b), loaded("short", a[:500]), loaded("long", noise(3, 9*second, .2)), loaded("again", a),
		loaded("endless", make([]float32, 130*second)), exact.Clip{ID: "gone", Load: func(context.Context) ([]float32, error) {
			return nil, fault.ErrNotFound
		}})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]error{"a": nil, "b": nil, "again": nil, "silent": exact.ErrSilent,
		"short": exact.ErrTooShort, "long": exact.ErrLongerThanEpisode, "endless": exact.ErrTooLong, "gone": fault.ErrNotFound} {
		if !errors.Is(r[id].Err, want) || want == nil && r[id].Err != nil {
			t.Errorf("%s: %v, want %v", id, r[id].Err, want)
		}
	}
	for id, want := range map[string][]int{"a": {10000}, "again": {10000}, "b": {14000}} {
		if !slices.Equal(offsets(r[id]), want) {
			t.Errorf("%s: found %v, want %v", id, r[id].Matches, want)
		}
	}
	if !errors.Is(exact.ErrTooLong, fault.ErrTooLarge) || !errors.Is(exact.ErrSilent, fault.ErrInvalid) {
		t.Error("a fault without its kind")
	}
}

func TestFindFindsWhatWasInserted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(second/4, second).Draw(t, "length")
		at := rapid.IntRange(0, 3*second-length).Draw(t, "at")
		gain := rapid.Float64Range(.25, 8).Draw(t, "gain") * rapid.SampledFrom([]float64{1, -1}).Draw(t, "polarity")
		clip := noise(rapid.Uint64Min(10).Draw(t, "seed"), length, .1)
		episode := noise(9, 3*second, .02)
		mix(episode, clip, at, gain)
		r, err := find(episode, exact.Options{}, loaded("c", clip))
		if err != nil || r["c"].Err != nil {
			t.Fatal(err, r["c"].Err)
		}
		if len(r["c"].Matches) != 1 || math.Abs(float64(r["c"].Matches[0].Offset-at)) > 1 {
			t.Fatalf("found %+v, want one at %d", r["c"].Matches, at)
		}
	})
}

func TestFindReportsInOrderAndStopsWhenTold(t *testing.T) {
	t.Parallel()
	episode, clip := exact.Samples(noise(9, 4*second, .1)), noise(1, second, .1)
	var clips []exact.Clip
	for i := range 7 {
		clips = append(clips, loaded(fmt.Sprint(i), clip))
	}
	var seen, ends []string
	stop := errors.New("stop")
	err := exact.Find(context.Background(), episode, clips, exact.Options{Group: 3}, func(r exact.Result) error {
		seen = append(seen, r.ID)
		if r.GroupEnds {
			ends = append(ends, r.ID)
		}
		if len(ends) == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || !slices.Equal(seen, []string{"0", "1", "2", "3", "4", "5"}) || !slices.Equal(ends, []string{"2", "5"}) {
		t.Error(err, seen, ends)
	}
}

func TestFindRefusesAndEnds(t *testing.T) {
	t.Parallel()
	for _, o := range []exact.Options{{Threshold: 1}, {Threshold: math.NaN()}, {Threshold: -1}, {Group: -1}, {Group: 65}} {
		if _, err := find(nil, o); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	err := exact.Find(ctx, exact.Samples(nil), []exact.Clip{loaded("c", nil)}, exact.Options{}, nil)
	if !errors.Is(err, gone) {
		t.Error(err)
	}
}
