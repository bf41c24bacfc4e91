package cliplint

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/index"
	"leasehold/shared/fault"
)

// RateHz is the sample rate of everything in this package.
const RateHz = index.RateHz

// The limits of silence.
const (
	// minLevel is the root mean square below which a tenth of a second is silence:
	// -60 dB of full scale.
	minLevel = .001
	block    = RateHz / 10
)

// Clip is a clip of the collection. Load returns its samples at RateHz; Check calls it
// once. If Load fails because of the recording itself (fault.ErrInvalid, ErrTooLarge,
// ErrCorrupt, ErrNotFound), the clip is Unreadable or TooLong.
type Clip struct {
	Name string // unique
	Load func(ctx context.Context) ([]float32, error)
}

// Check returns the faults of the clips, in the order of the clips. It fails if ctx ends, if
// Load fails for a reason other than the recording itself, or if the index cannot be
// built or searched.
func Check(ctx context.Context, clips []Clip) ([]Notice, error) { return check(ctx, clips, false) }

// CheckPlayed does what Check does and also plays each clip over silence, speech and music, and
// reports the clips that a search does not find there (Missed). That is three more searches of all
// clips, and one for each missed clip. It fails as Check does.
func CheckPlayed(ctx context.Context, clips []Clip) ([]Notice, error) { return check(ctx, clips, true) }

// check is Check, and CheckPlayed if play is true. A clip that a search cannot use (Fault.Lost)
// is not compared with the others. First come the faults of clips alone, which are fast to find,
// then those among the clips. An error of a clip's Load that will last is a fault of the clip;
// any other ends the check.
func check(ctx context.Context, list []Clip, play bool) ([]Notice, error) {
	var all []Notice
	var builder index.Builder
	for _, c := range list {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		wave, err := c.Load(ctx)
		if err != nil && !clips.Lasting(err) && !errors.Is(err, fault.ErrNotFound) {
			return nil, err
		}
		n := checkAlone(wave, err)
		if n == nil || !n.Fault.Lost() {
			if err := builder.Add(c.Name, wave); err != nil {
				return nil, err
			}
		}
		if n != nil {
			n.Clip = c.Name
			all = append(all, *n)
		}
	}
	x, err := builder.Build()
	if err != nil {
		return nil, err
	}
	among, err := compare(ctx, x)
	if err != nil {
		return nil, err
	}
	all = append(all, among...)
	if play {
		missed, err := findMissed(ctx, x)
		if err != nil {
			return nil, err
		}
		all = append(all, missed...)
	}
	return inOrder(all, list), nil
}

// checkAlone checks a clip without the other clips; err is the error of loading it. It returns the
// first fault in the order below, with an empty name, or nil if the clip has none.
func checkAlone(wave []float32, err error) *Notice {
	sound := sounding(wave)
	switch {
	case errors.Is(err, fault.ErrTooLarge) || len(wave) > index.MaxSamples:
		return &Notice{Fault: TooLong, Why: fmt.Sprintf("longer than %v", exact.MaxClip), Advice: "cut out the part that is played"}
	case err != nil:
		return &Notice{Fault: Unreadable, Why: err.Error(), Advice: "replace it"}
	case sound == 0 || errors.Is(exact.Check(wave), exact.ErrSilent): // the latter of a constant value, too
		return &Notice{Fault: Silent, Why: "nothing to look for", Advice: "replace it, or remove it"}
	case sound < exact.MinClip.Seconds():
		return &Notice{
			Fault: TooShort, Why: fmt.Sprintf("%.2f s of sound", sound),
			Advice: fmt.Sprintf("cut it longer, at least %v", exact.MinClip),
		}
	}
	frames := powers(wave)
	switch m := steadiness(frames); {
	case m > steady:
		return &Notice{Fault: Steady, Why: "it sounds the same throughout, so that its offset is not sure", Advice: "take in how it begins or ends"}
	case m > noisy && tonality(frames) < toned:
		return &Notice{Fault: Noise, Why: "it has no tones that stand out, and may be missed", Advice: "take in some speech or music beside it"}
	}
	return nil
}

// sounding returns the seconds of a sound that are not silence, counted in tenths of a second;
// the last may be shorter.
func sounding(wave []float32) float64 {
	n := 0
	for part := range slices.Chunk(wave, block) {
		sum := 0.0
		for _, v := range part {
			sum += float64(float64(v) * float64(v))
		}
		if math.Sqrt(sum/float64(len(part))) >= minLevel {
			n += len(part)
		}
	}
	return float64(n) / RateHz
}

// inOrder sorts notices by the order of their clips.
func inOrder(all []Notice, clips []Clip) []Notice {
	order := make(map[string]int, len(clips))
	for i, c := range clips {
		order[c.Name] = i
	}
	slices.SortStableFunc(all, func(a, b Notice) int { return order[a.Clip] - order[b.Clip] })
	return all
}
