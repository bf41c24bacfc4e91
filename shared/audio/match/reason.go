package match

import (
	"fmt"
	"math"

	"leasehold/shared/audio/index"
)

// reason fills in Reasons: the steps of the search, up to the one that decided, in the words of
// people who edit sound.
func (e *Explanation) reason() {
	e.say("landmarks of the clip (pairs of tones, one after the other) at %.0f %% of speed: %d", 100*e.Speed, e.Landmarks)
	if e.plain {
		e.explainPlain()
	}
	if !e.plain || !e.Found && e.Outcome != FewVotes {
		e.explainLandmarks()
	}
	if e.Found {
		e.say("so it is found")
	} else {
		e.say("so it is not found")
	}
}

func (e *Explanation) say(format string, args ...any) {
	e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...))
}

// explainPlain adds the reasons of the search by plain correlation.
func (e *Explanation) explainPlain() {
	why := fmt.Sprintf("they are fewer than %d", index.FewLandmarks)
	if e.tonal {
		why = "the clip is made of a few tones, which other sound masks"
	}
	e.say("%s, so its waveform is compared with every moment, at its own speed only", why)
	if e.Exact == 0 {
		e.say("within a second it fits nowhere better than by chance: it is not played there, or something else is much louder")
		return
	}
	e.say("the best correlation within a second is %.3f, as if it were %s the rest; %.3f is needed, which is %s",
		e.Exact, level(e.Exact), e.plainThreshold, level(e.plainThreshold))
}

// level returns how loud a clip is, compared with everything else that is played with it, if they
// correlate to c: a part c² of the power is the clip's.
func level(c float64) string {
	db := 20 * math.Log10(c/math.Sqrt(max(1e-9, 1-float64(c*c))))
	if db < 0 {
		return fmt.Sprintf("%.1f dB below", -db)
	}
	return fmt.Sprintf("%.1f dB above", db)
}

// explainLandmarks adds the reasons of the search by landmarks, and of the verification of the
// waveform, up to the step that decided (Outcome).
func (e *Explanation) explainLandmarks() {
	e.say("landmarks that agree on one place: %d, in %.0f of 8 parts of the clip; at least %d must", e.Hit.Votes, 8*e.Hit.Spread, e.Least)
	switch e.Outcome {
	case FewVotes:
		if e.Hit.Votes >= e.Least {
			e.say("but about as many agree in the half minute around it by chance")
		}
		e.say("so its waveform is not compared: it is not played there, something louder masks it, only a small part is played, or tempo or pitch differ too much")
		return
	case Crowded:
		e.say("too many places within half a minute have more, so its waveform is not compared here")
		return
	case Beside:
		e.say("a better place is within a tenth of a second")
		return
	}
	if e.Hit.Pace != 0 && straight(e.Hit) {
		e.say("they agree at a speed that differs by %.1f %%", float64(e.Hit.Pace)/10)
	} else if e.Hit.Pace != 0 {
		e.say("they agree at a tempo that differs by %.1f %%: tempo or pitch was changed", float64(e.Hit.Pace)/10)
	}
	if e.Outcome == NotVerified {
		e.say("the three loudest blocks of its thirds stand out by %.1f standard deviations together, as chance does, and none alone: something else is played", e.Result.Z)
		return
	}
	if z := deviations(e.Result); z < e.Result.Z {
		e.say("its waveform stands out by %.1f standard deviations, but %.1f are taken off, because few blocks match, at another speed than its own: chance has many speeds to choose from", e.Result.Z, e.Result.Z-z)
	}
	e.say("its waveform stands out by %.1f standard deviations (chance reaches 5); with the landmarks that is a score of %.3f, and %.3f is needed",
		deviations(e.Result), e.Score, e.Threshold)
	if e.Outcome == Weak {
		e.say("the score is too low: something louder masks it, a small part of it is played, or a similar sound")
		return
	}
	e.say("%.0f %% of its %d blocks of a quarter of a second match on their own", 100*e.Result.Coverage, len(e.Result.Blocks))
	switch e.Outcome {
	case LittleOfIt:
		e.say("that is too little of the clip: %.0f %% are needed, or %.0f %% if one part of at least a second is sure by itself", 100*mostly, 100*e.minCoverage)
	case NoTrace:
		e.say("%.0f %% of its landmarks agree, and %.0f %% are needed if less than %.0f %% of the blocks match: another sound shares some of its tones or drums",
			100*float64(e.Hit.Votes)/float64(max(1, e.Landmarks)), 100*traceDensity, 100*nearlyAll)
	case Repeat:
		e.say("another place of the clip explains it, because the clip repeats itself")
	}
}
