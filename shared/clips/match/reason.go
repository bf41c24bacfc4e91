package match

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/verify"
)

// reason fills in Reasons, the steps of the search up to the one that decided, and Conclusion, in
// the words of people who edit sound.
func (e *Explanation) reason() {
	e.say("strongest landmarks of the clip (pairs of tones, one after the other) at %.0f %% of speed: %d", 100*e.Speed, e.Landmarks)
	if e.plain {
		e.explainPlain()
	}
	if !e.plain || e.Outcome != FewVotes && e.how != ByExact {
		e.explainLandmarks()
	}
	e.conclude()
}

// Lines returns the reasons and the conclusion, one after the other.
func (e *Explanation) Lines() []string {
	return slices.Concat(e.Reasons, e.Conclusion)
}

// conclude fills in Conclusion. It tells what the time means, because a user who hears the second
// half of a clip gives the time at which it is heard.
func (e *Explanation) conclude() {
	if e.Found {
		e.Conclusion = []string{"so it is found"}
		return
	}
	e.Conclusion = []string{"so it is not found"}
	if e.Elsewhere >= 0 {
		e.Conclusion = append(e.Conclusion, "the clip is found around this time: it would begin as a whole at "+clock(e.Elsewhere)+", so explain it at that time")
	} else if e.Outcome == FewVotes {
		e.Conclusion = append(e.Conclusion, "the time to give is that at which the whole clip would begin, also if only its end is played")
	}
}

// clock prints a sample's time as the tables do, such as 41:39.95.
func clock(sample int) string {
	c := (sample*100 + RateHz/2) / RateHz
	return fmt.Sprintf("%d:%02d.%02d", c/6000, c/100%60, c%100)
}

func (e *Explanation) say(format string, args ...any) {
	e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...))
}

// explainPlain adds the reasons of the search by plain correlation.
func (e *Explanation) explainPlain() {
	why := fmt.Sprintf("they are fewer than %d", index.FewLandmarks)
	if e.tonal {
		why = "the clip is made of a few tones or of held ones, whose landmarks other sound masks or moves"
	}
	e.say("%s, so its waveform is compared with every moment, at its own speed only", why)
	if e.Exact == 0 {
		e.say("within a second it fits nowhere better than by chance: it is not played there, or at another speed, or something else is much louder")
		return
	}
	e.say("the best correlation within a second is %s, as if it were %s the rest; %.3f is needed, which is %s",
		decimals(3, e.Exact, e.plainThreshold), level(e.Exact), e.plainThreshold, level(e.plainThreshold))
	if !e.Found && e.Exact >= e.plainThreshold {
		e.say("but it does not count if the clip fits at many moments, as in a tone that goes on, or if less of the clip is there than the minimum coverage")
	}
}

// level returns how loud a clip is, compared with everything else played with it, if they correlate
// to c: a part c² of the power is the clip's.
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
	case Crowded:
		e.say("too many places within half a minute have more, so its waveform is not compared here")
	case Beside:
		e.say("a better place is within a tenth of a second")
	default:
		e.explainPace()
		e.explainWaveform()
	}
}

// explainPace tells at which speed or tempo the landmarks agree, if it is another one than the clip's.
func (e *Explanation) explainPace() {
	switch {
	case e.Hit.Pace == 0:
	case e.Hit.Fine():
		e.say("they agree at a speed that differs by %.1f %%", float64(e.Hit.Pace)/10)
	default:
		e.say("they agree at a tempo that differs by %.1f %%: tempo or pitch was changed", float64(e.Hit.Pace)/10)
	}
}

// explainWaveform tells what the comparison of the waveform found.
func (e *Explanation) explainWaveform() {
	if e.Outcome == NotVerified {
		e.say("the three loudest blocks of its thirds stand out by %.1f standard deviations together, as chance does, and none alone: something else is played", e.Result.Z)
		return
	}
	if z := deviations(e.Result); z < e.Result.Z {
		e.say("its waveform stands out by %.1f standard deviations, but %.1f are taken off, because few blocks match, at another speed than its own: chance has many speeds to choose from", e.Result.Z, e.Result.Z-z)
	}
	e.say("its waveform stands out by %.1f standard deviations (chance reaches 5); with the landmarks that is a score of %s, and %.3f is needed",
		deviations(e.Result), decimals(3, e.Score, e.Threshold), e.Threshold)
	if e.Outcome == Weak {
		e.say("the score is too low: something louder masks it, a small part of it is played, or a similar sound")
		return
	}
	e.explainBlocks()
}

// explainBlocks tells how much of the clip matches, and whether that is enough.
func (e *Explanation) explainBlocks() {
	e.say("%s %% of its %d blocks of a quarter of a second match on their own",
		decimals(0, 100*e.Result.Coverage, 100*mostly, 100*e.minCoverage, 100*nearlyAll), len(e.Result.Blocks))
	switch e.Outcome {
	case Found:
		if e.Result.Coverage < mostly {
			e.say("that is enough, because %s", e.whyLittleIsEnough())
		}
	case LittleOfIt:
		e.say("that is too little of the clip: %.4g %% are needed, or %.4g %% if one part of at least a second is sure by itself", 100*mostly, 100*e.minCoverage)
	case NoTrace:
		share := 100 * float64(e.Hit.Votes) / float64(max(1, e.Landmarks))
		e.say("%s %% of its landmarks agree, and %.4g %% are needed if less than %.4g %% of the blocks match: perhaps another sound shares some of its tones or drums, or the part that is played has few landmarks",
			decimals(0, share, 100*traceDensity), 100*traceDensity, 100*nearlyAll)
	case Repeat:
		e.say("another place of the clip explains it, because the clip repeats itself")
	}
}

// whyLittleIsEnough tells why a place is found although less than mostly matches.
func (e *Explanation) whyLittleIsEnough() string {
	if e.Result.Run >= minPart && e.Result.RunCoverage >= runShare && verify.Score(deviations(e.Result)) >= e.Threshold {
		return "one part of at least a second is sure by itself"
	}
	return fmt.Sprintf("its landmarks are sure, and lie in %.0f of 8 parts of the clip", 8*e.Hit.Spread)
}

// decimals prints v with at least so many decimals, and with more if v would seem to reach a limit
// that it does not.
func decimals(least int, v float64, limits ...float64) string {
	for ; ; least++ {
		text := strconv.FormatFloat(v, 'f', least, 64)
		shown, _ := strconv.ParseFloat(text, 64) // a number that was just formatted
		if least >= 15 || !slices.ContainsFunc(limits, func(limit float64) bool { return v < limit && shown >= limit }) {
			return text
		}
	}
}
