// Package match finds every place where a clip is played in an episode, by exact
// normalised cross-correlation over the waveform.
//
// The score of a place is the correlation of the clip with the window of the
// episode that begins there, each freed of its mean and brought to energy 1: 1 is
// the clip itself at any level, 0.71 the clip under something else as loud, 0.5
// under something 5 dB louder. It is computed at every sample; nothing is
// screened out beforehand. A place is reported when
//
//  1. its score is at least Options.Threshold, and stands out of the clip's own
//     scores in this episode (significance), which keeps short or narrow-band
//     clips quiet;
//  2. the nearby places already reported do not explain it: what they would
//     contribute there is subtracted first, so that a loop is not found shifted by
//     one beat, yet a repeat that begins before the first has ended is;
//  3. most of the clip's energy, over time and frequency, is found there
//     (minCoverage), so that one shared tone of a chord is not the chord.
//
// Windows below silenceRMS score 0: nothing is divided by nothing.
//
// # Cost
//
// Clips are taken in groups of Options.Group. For each group the episode is read
// once, in blocks: a forward FFT for the group and an inverse one for each clip
// (overlap-save). Time grows with episode times clips. Memory does not depend on
// the length of the episode, but for the candidate places (16 bytes each, at most
// four per clip length): at the default group of 8, 11 MiB for clips to 4 s,
// 45 MiB to 15 s, and 360 MiB to MaxClip.
//
// A clip's result is final, and reported, when its group is done; one bad clip
// never hides the others. Results are deterministic. Nothing here starts a
// goroutine.
//
// # Why gonum
//
// BenchmarkFFT, real forward, 65,536 points on one core of the machine of
// docs/bench-audio.md: gonum 2.0 ms without an allocation; go-dsp 2.7 ms on both
// cores, with 42 allocations of 3.7 MB. Gonum also has the inverse that yields
// reals, half of the work. Go-dsp gives us its windows.
package match
