// Package cliplint reports the clips of a collection that a search would miss, find
// unreliably or find twice, with advice for each clip.
//
//   - Silent, TooShort, TooLong, Unreadable: a search cannot use such a clip.
//   - Noise: a hiss, applause, a breath. It has no landmarks that survive an
//     encoder.
//   - Steady: a tone or a hum. Such a clip matches equally well at every offset.
//   - Duplicate: the same sound as another clip. All but the first are reported.
//   - Contained: another clip contains all of it, so a search finds this clip
//     wherever it finds the other.
//   - Missed: played over silence, speech or music that is 6 dB quieter, a search does not
//     find it (CheckPlayed only).
//
// Check recognizes Noise and Steady by the steadiness of the spectrum. For each band,
// steadiness is the geometric mean of the power of each frame divided by the band's
// mean; the bands are averaged by power. It is 0.56 for continuous noise of any colour
// (e to the minus Euler's constant, because the power of noise is exponentially
// distributed), near 1 for a sound that does not change, and far below 0.56 for speech
// and most music. Sustained chords flicker as noise does, but their tones stand out of
// the mean spectrum.
//
// Check finds Duplicate and Contained with an ordinary search. It indexes all clips,
// and searches an episode that plays all clips in order. Check takes about 30 ms of CPU
// for a clip of 3 s. It holds its index (package index) and the one clip that it loads.
// It is deterministic, and starts no goroutine.
//
// Limit: Check does not know whether a clip is worth a search.
package cliplint
