// Package exact finds every place where a clip is played in an episode, by exact
// normalised cross-correlation over the waveform.
//
// The score of a place is the correlation of the clip with the window of the
// episode that begins there, each freed of its mean and brought to energy 1: 1 is
// the clip itself at any level and of either polarity, 0.71 the clip under something else as loud, 0.5
// under something 5 dB louder. Find computes it at every sample. A place is reported when
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
// Stream does the same in a sound that comes bit by bit, in windows of 16 s. In each window it first
// rules out the clips that cannot reach the threshold there (screen), in three steps: by the narrow bands
// that have half of the clip's energy, by wider ones that have nearly all of it, and by the whole clip. Most
// clips are ruled out by the first step, which is the cheapest. For the clips that may be there, it
// runs Find.
//
// Windows below silenceRMS score 0, so that no score is divided by an energy of zero.
//
// # Cost
//
// Clips are taken in groups of Options.Group. For each group the episode is read
// once, in blocks: a forward FFT for the group and an inverse one for each clip
// (overlap-save). Time grows with episode times clips: 0.5 s for a clip and
// an hour. Memory does not depend on the length of the episode, but for the
// candidate places (24 bytes each, at most four per clip length): 25 MiB for
// groups of 8 clips to 2 s, 50 MiB to 15 s, and 300 MiB to MaxClip.
//
// A clip's result is final, and reported, when its group is done; one bad clip
// never hides the others. Results are deterministic. Nothing here starts a
// goroutine.
//
// The FFTs of the search come from package spectrum, in float32: a score is off by 1e-6, or by some
// thousandths if the same block has something 60 dB louder. Energies are summed in float64. The
// check that confirms a place transforms its frames with gonum, and takes its window from go-dsp.
package exact
