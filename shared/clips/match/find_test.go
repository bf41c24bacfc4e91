package match_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/match"
	"leasehold/shared/clips/warp"
	"leasehold/shared/fault"
)

// situation is an episode, and the clips that are played in it.
type situation struct {
	name  string
	build func() []float32
	want  []string
}

var (
	clipA = noise(1, second, .2)
	clipB = tune(2, 3*second)
)

func in(base func() []float32, at int, clip []float32, gain float64) func() []float32 {
	return func() []float32 { e := base(); mix(e, clip, at, gain); return e }
}

func quiet() []float32 { return noise(9, 20*second, .02) }

var situations = []situation{
	{"without the clips", func() []float32 { return show(20) }, []string{}},
	{"silence", func() []float32 { return make([]float32, 20*second) }, []string{}},
	{"nothing", func() []float32 { return nil }, []string{}},
	{"0.2 s", func() []float32 { return noise(5, second/5, .1) }, []string{}},
	{"in silence", in(func() []float32 { return make([]float32, 10*second) }, 12345, clipA, 1), []string{"a@12345"}},
	{"at the very start", in(quiet, 0, clipA, 1), []string{"a@0"}},
	{"at the very end", in(quiet, 19*second, clipA, 1), []string{"a@152000"}},
	{"it is the whole episode", func() []float32 { return clipB }, []string{"b@0"}},
	{"30 dB quieter", in(func() []float32 { return make([]float32, 10*second) }, 777, clipB, .03), []string{"b@777"}},
	{"12 dB louder, and clipped", func() []float32 {
		e := in(quiet, 777, clipA, 4)()
		for i, v := range e {
			e[i] = max(-1, min(1, v))
		}
		return e
	}, []string{"a@777"}},
	{"in a tune", in(func() []float32 { return show(20) }, 50001, clipB, 1), []string{"b@50001"}},
	{"twice in a row", func() []float32 {
		return in(in(quiet, 4000, clipB, 1), 4000+len(clipB), clipB, 1)()
	}, []string{"b@4000", "b@28000"}},
	{"begun again before it ended", func() []float32 {
		return in(in(quiet, 4000, clipA, 1), 4000+second*6/10, clipA, 1)()
	}, []string{"a@4000", "a@8800"}},
	{"one over the other", func() []float32 {
		return in(in(quiet, 4000, clipB, 1), 8000, clipA, 1)()
	}, []string{"b@4000", "a@8000"}},
	{"with an offset from zero", func() []float32 {
		e := in(quiet, 9999, clipB, 1)()
		for i := range e {
			e[i] += .4
		}
		return e
	}, []string{"b@9999"}},
	{"upside down", in(func() []float32 { return show(20) }, 50001, clipB, -1), []string{"b@50001"}},
	{"across the end of a stretch", in(func() []float32 { return show(70) }, 4096*64-second, clipB, 1), []string{"b@254144"}},
}

func TestFind(t *testing.T) {
	t.Parallel()
	x := indexed(t, clipA, clipB)
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			found := find(t, x, s.build(), match.Options{})
			require.Equal(t, s.want, played(found))
			for _, f := range found {
				require.True(t, f.Score >= match.DefaultThreshold && f.Score < 1, "%+v", f)
				require.InDelta(t, x.Samples(f.Clip), f.Length, 1, "%+v", f)
				require.Equal(t, 1.0, f.Speed)
				require.Greater(t, f.Coverage, .7)
			}
		})
	}
}

// In digital silence there are no peaks, which would tell that the pairs before it are complete. Silence of two
// stretches must not delay them: they would vote when their stretch is decided.
func TestAClipBeforeALongSilenceIsFound(t *testing.T) {
	t.Parallel()
	for _, silence := range []int{30, 35, 70, 140} { // seconds
		e := append(in(quiet, 19*second, clipA, 1)(), make([]float32, silence*second)...)
		e = append(e, in(quiet, second, clipB, 1)()...)
		want := []string{fmt.Sprint("a@", 19*second), fmt.Sprint("b@", (21+silence)*second)}
		require.Equal(t, want, played(find(t, indexed(t, clipA, clipB), e, match.Options{})), "%d s of silence", silence)
	}
}

func TestFindTellsSpeedAndCuts(t *testing.T) {
	t.Parallel()
	clip := tune(4, 6*second)
	x := indexed(t, clip)
	for _, speed := range []int{-30, -12, 5, 20} {
		found := find(t, x, in(func() []float32 { return show(20) }, 40000, warp.Play(clip, speed), 1)(), match.Options{})
		require.Len(t, found, 1, "speed %d", speed)
		require.InDelta(t, 1+float64(speed)/1000, found[0].Speed, .001)
		require.InDelta(t, 40000, found[0].Offset, 8)
		require.InDelta(t, warp.Len(len(clip), speed), found[0].Length, 40)
	}
	found := find(t, x, in(quiet, 40000, clip[2*second:], 1)(), match.Options{})
	require.Len(t, found, 1)
	require.Equal(t, 40000-2*second, found[0].Offset, "where the whole clip would begin")
	require.InDelta(t, 4*second, found[0].Length, second/2)
	require.InDelta(t, 4.0/6, found[0].Coverage, .1)
}

func TestAnySpeedWithin4PercentIsFound(t *testing.T) {
	t.Parallel()
	clips := [][]float32{tune(31, second), tune(32, 3*second), tune(33, 14*second)}
	x := indexed(t, clips...)
	for i, speed := range []int{-39, -34, -25, -16, -14, -6, 4, 5, 17, 26, 35, 38} {
		clip := clips[i%len(clips)]
		found := find(t, x, in(func() []float32 { return show(25) }, 40000, warp.Play(clip, speed), 1)(), match.Options{})
		require.Len(t, found, 1, "speed %d", speed)
		require.Equal(t, i%len(clips), found[0].Clip)
		require.InDelta(t, 1+float64(speed)/1000, found[0].Speed, .002, "speed %d", speed)
		require.InDelta(t, 40000, found[0].Offset, 12, "speed %d", speed)
	}
}

// The variants are up to 4 % slower and faster. A clip that is a little beyond them is verified at its own speed if
// warp plays it so, and else at warp's last one.
func TestAClipBeyondTheVariantsIsFoundAtItsSpeed(t *testing.T) {
	t.Parallel()
	all := 0
	for _, seconds := range []int{5, 8} {
		clip := tune(100, seconds*second)
		x := indexed(t, clip)
		for _, speed := range []int{-13, -12, -11, 10, 11, 12} { // -5.2 to 5.2 %
			played, want := warp.Play(warp.Play(clip, 40), speed), 1.04*(1+float64(speed)/1000)
			if speed < 0 {
				played, want = warp.Play(warp.Play(clip, -40), speed), .96*(1+float64(speed)/1000)
			}
			found := find(t, x, in(quiet, 40000, played, 1)(), match.Options{})
			for _, f := range found {
				require.InDelta(t, want, f.Speed, .001, "%d s", seconds)
				require.InDelta(t, 40000, f.Offset, 30, "%d s at %.4f", seconds, want)
			}
			all += len(found)
		}
	}
	require.GreaterOrEqual(t, all, 7, "some are too far from a variant")
}

func TestAPartIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	clip := tune(34, 8*second)
	x := indexed(t, clip)
	for _, part := range [][2]int{{0, 4}, {4, 8}, {2, 6}} {
		e := show(25)
		mix(e, clip[part[0]*second:part[1]*second], 50000+part[0]*second, 1)
		found := find(t, x, e, match.Options{})
		require.Len(t, found, 1, "%v", part)
		require.InDelta(t, 50000, found[0].Offset, 1)
		from, to := found[0].Part()
		require.InDelta(t, part[0], from.Seconds(), .3)
		require.InDelta(t, part[1], to.Seconds(), .3)
		require.InDelta(t, .5, found[0].Coverage, .13, "a landmark may agree by chance in one eighth more")
		require.Empty(t, find(t, x, e, match.Options{MinCoverage: .7}))
	}
	_, err := match.New(x, match.Options{MinCoverage: 1.1}, nil)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

// Less than an eighth of the power is missing, so all of the clip counts as found.
func TestAClipThatTheEpisodeCutsEndsWithIt(t *testing.T) {
	t.Parallel()
	e := in(quiet, 17*second, clipB, 1)()
	e = e[:17*second+len(clipB)*19/20]
	found := find(t, indexed(t, clipB), e, match.Options{})
	require.Equal(t, []string{fmt.Sprint("a@", 17*second)}, played(found))
	require.Equal(t, len(e)-17*second, found[0].Length)
	require.Equal(t, len(clipB), found[0].PartTo)
}

func TestAClipWithinAnotherIsFoundAndMarked(t *testing.T) {
	t.Parallel()
	long := tune(6, 6*second)
	x := indexed(t, long[2*second:4*second], long)
	found := find(t, x, in(quiet, 16000, long, 1)(), match.Options{})
	require.Equal(t, []string{"b@16000", "a@32000"}, played(found))
	require.Equal(t, "b", found[1].Within)
	require.Empty(t, found[0].Within)
}

// The longer clip is played once, and then three times in a row across the end of a stretch, so that these are
// decided together with the next one.
func TestAClipWithinOneThatIsNotDecidedYetWaitsForIt(t *testing.T) {
	t.Parallel()
	long := tune(21, 7*second)
	e, want := noise(9, 45*second, .02), []string{}
	for _, at := range []int{10_000, 80_000, 136_000, 192_000} {
		mix(e, long, at, 1)
		want = append(want, fmt.Sprint("b@", at), fmt.Sprint("a@", at+2*second))
	}
	found := find(t, indexed(t, long[2*second:4*second], long), e, match.Options{})
	require.Equal(t, want, played(found))
	for i, f := range found {
		require.Equal(t, []string{"", "b"}[i%2], f.Within, "%+v", f)
	}
}

func TestALoopIsNotFoundABeatLater(t *testing.T) {
	t.Parallel()
	bar := tune(7, second)
	loop := slices.Concat(bar, bar, bar, bar)
	x := indexed(t, loop)
	found := find(t, x, in(quiet, 24000, loop, 1)(), match.Options{})
	require.Equal(t, []string{"a@24000"}, played(found))
}

func TestAPureToneIsLookedForAndNotEverywhere(t *testing.T) {
	t.Parallel()
	beep := make([]float32, second*3/10)
	for i := range beep {
		beep[i] = float32(.3 * math.Sin(2*math.Pi*1000*float64(i)/second))
	}
	x := indexed(t, beep, clipB)
	require.True(t, x.Plain(0))
	e := noise(9, 150*second, .02)
	mix(e, beep, 30000, 1)
	mix(e, clipB, 60000, 1)
	mix(e, beep, 1<<20-1000, 1) // across the end of a window
	found := find(t, x, e, match.Options{})
	require.Equal(t, []string{"a@30000", "b@60000", "a@1047576"}, played(found))
	require.Equal(t, match.ByExact, found[0].How)
}

// The gong has hundreds of landmarks, which the other sound masks, and tones that correlate at any shift.
func TestAGongUnderSomethingElseIsFound(t *testing.T) {
	t.Parallel()
	gong := gong()
	x := indexed(t, gong, clipB)
	require.True(t, x.Plain(0))
	require.False(t, x.Plain(1))
	for _, polarity := range []float64{1, -1} {
		e := show(30)
		mix(e, gong, 50000, polarity)
		require.Equal(t, []string{"a@50000"}, played(find(t, x, e, match.Options{})))
	}
}

// TestHeldNotesAreFound has notes of an organ. They are equally loud while they are held, so noise moves
// their landmarks, though there are dozens. All of the clip is found, not only notes whose landmarks agree.
func TestHeldNotesAreFound(t *testing.T) {
	t.Parallel()
	var organ []float32
	for _, hz := range []float64{392, 523, 659, 784, 659, 1047} {
		for i := range second * 3 / 8 {
			t, loud := float64(i)/second, min(1, float64(i)/40, float64(second*3/8-i)/160)
			v := 0.0
			for k := 1.; k < 5; k++ {
				v += loud / k * math.Sin(2*math.Pi*k*hz*t)
			}
			organ = append(organ, float32(.1*v))
		}
	}
	x := indexed(t, organ, clipB)
	require.True(t, x.Plain(0))
	require.False(t, x.Plain(1))
	for _, polarity := range []float64{1, -1} {
		e := noise(77, 30*second, .01)
		mix(e, organ, 50000, polarity)
		found := find(t, x, e, match.Options{})
		require.Equal(t, []string{"a@50000"}, played(found))
		require.Greater(t, found[0].Score, .9)
		require.Greater(t, found[0].Coverage, .9)
	}
}

// TestAThumpWithATailNeedsTheScoreOfAThump has tones that fade, alone and under noise 3 dB quieter,
// where the correlation is 0.82. A thump is as like other thumps whether or not the recording goes
// on after it.
func TestAThumpWithATailNeedsTheScoreOfAThump(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fade  float64 // a second later the tone is so many e-folds quieter
		noisy bool
		want  []string
	}{
		{"a thump alone", 8, false, []string{"a@50000"}},
		{"a thump under noise", 8, true, []string{}},
		{"a bell alone", .8, false, []string{"a@50000"}},
		{"a bell under noise", .8, true, []string{"a@50000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clip, power := make([]float32, 2*second), 0.0
			for i := range clip {
				v := .3 * math.Exp(-c.fade*float64(i)/second) * math.Sin(2*math.Pi*150*float64(i)/second)
				clip[i] = float32(v)
				power += v * v / float64(len(clip))
			}
			x, e := indexed(t, clip), noise(9, 30*second, .0001)
			require.True(t, x.Plain(0))
			if c.noisy {
				e = noise(9, 30*second, math.Sqrt(power/2))
			}
			mix(e, clip, 50000, 1)
			require.Equal(t, c.want, played(find(t, x, e, match.Options{})))
		})
	}
}

// TestFindingsAreTheSame varies the order and number of clips, and the pieces in which the
// episode comes.
func TestFindingsAreTheSame(t *testing.T) {
	t.Parallel()
	clips := [][]float32{tune(11, 2*second), tune(12, 3*second), noise(13, second/2, .2), tune(14, 4*second)}
	e := show(45)
	for i, c := range clips {
		mix(e, c, 30000+80003*i, .7)
	}
	want := find(t, indexed(t, clips...), e, match.Options{})
	require.Len(t, want, len(clips))
	for i, order := range [][]int{{3, 1, 0, 2}, {2, 0}, {1}} {
		var some [][]float32
		for _, k := range order {
			some = append(some, clips[k])
		}
		var got []match.Finding
		s := &stream{e, []int{1 << 15, 100, 7777}[i%3]}
		err := match.Find(context.Background(), indexed(t, some...), s, match.Options{}, func(f match.Finding) error {
			f.Clip = order[f.Clip]
			f.ID = want[f.Clip].ID
			got = append(got, f)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, got, len(order))
		for _, k := range order {
			require.Contains(t, got, want[slices.IndexFunc(want, func(f match.Finding) bool { return f.Clip == k })])
		}
	}
}

func TestTheThresholdMoves(t *testing.T) {
	t.Parallel()
	x := indexed(t, clipB)
	e := in(func() []float32 { return noise(9, 20*second, .05) }, 40000, clipB, .5)()
	sure := find(t, x, e, match.Options{Threshold: .3})
	require.Len(t, sure, 1)
	require.Empty(t, find(t, x, e, match.Options{Threshold: sure[0].Score + .01}))
	require.Len(t, find(t, x, e, match.Options{Threshold: sure[0].Score - .01}), 1)
}

func TestFindRefusesAndEnds(t *testing.T) {
	t.Parallel()
	x := indexed(t, clipA)
	for _, v := range []float64{1, -1, 1.5, math.NaN()} {
		err := match.Find(context.Background(), x, &stream{}, match.Options{Threshold: v}, nil)
		require.ErrorIs(t, err, fault.ErrInvalid, "%v", v)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	require.ErrorIs(t, match.Find(ctx, x, &stream{clipA, 100}, match.Options{}, nil), gone)
	stop := errors.New("stop")
	err := match.Find(context.Background(), x, &stream{in(quiet, 0, clipA, 1)(), 4000}, match.Options{}, func(match.Finding) error { return stop })
	require.ErrorIs(t, err, stop)
}

// broken is an episode whose Reader fails.
type broken struct {
	stream
	err error
}

func (b *broken) Read(dst []float32) (int, error) {
	n, err := b.stream.Read(dst)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func TestWhatIsPlayedBeforeABreakIsFound(t *testing.T) {
	t.Parallel()
	b := &broken{stream{in(quiet, 16*second, clipB, 1)(), 1000}, errors.New("breaks off")}
	var found []match.Finding
	err := match.Find(t.Context(), indexed(t, clipB), b, match.Options{}, func(f match.Finding) error {
		found = append(found, f)
		return nil
	})
	require.ErrorIs(t, err, b.err)
	require.Equal(t, []string{"a@128000"}, played(found))
}

func TestMemoryDoesNotGrowWithTheEpisode(t *testing.T) {
	t.Parallel()
	m, err := match.New(indexed(t, clipA), match.Options{}, func(match.Finding) error { return nil })
	require.NoError(t, err)
	piece := show(33)
	for range 2 {
		require.NoError(t, m.Push(t.Context(), piece))
	}
	before := m.Held()
	for range 3 {
		require.NoError(t, m.Push(t.Context(), piece))
	}
	require.LessOrEqual(t, m.Held(), before*3/2)
	require.NoError(t, m.Close(t.Context()))
}
