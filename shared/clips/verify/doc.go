// Package verify decides on the waveform whether a clip is played at a place, how much of
// it, and where to the sample.
//
// The clip, at the speed of its variant, is cut into blocks of 0.256 s. Each is
// correlated with the 0.512 s of the episode around where it should be, so that it may
// lie up to 128 ms off, by generalised cross-correlation (Knapp and Carter, 1976): the
// cross-spectrum is divided by its magnitude to the power of one half, which weighs all
// pitches nearly alike, so that telephones, equalisers and other sounds do little harm. The
// blocks' correlations are added along a line, because a small error of speed makes later
// blocks drift; the largest magnitude of that sum, in standard deviations of the
// rest of the sum, is Z. Polarity does not matter, because the sum of an inverted clip has the
// same magnitude. Chance reaches 5; the same tones as the clip's, in another tune, raise
// the deviation with the peak and gain nothing.
//
// Coverage is the share of the clip's blocks, silent ones aside, that match on their
// own, and Score is Z/(Z+5): 0.5 at chance's limit, 0.6 at Z 7.5, 0.8 at 20, never 1. If only
// a part of the clip is played, the blocks of the best run decide Z, because the others
// would only add noise.
//
// A gate of three blocks comes first; it rejects nine of ten false candidates. It lets a
// place pass if one block alone is far above chance, because a speed between two variants
// moves the peaks of blocks apart, so that their sum stays low. The spectra of a clip's
// blocks are kept, least recently used out first, up to 12 MiB.
package verify
