// Package cliplint names the clips of a collection that would be found nowhere, or
// not surely, or twice, and says what to do about each.
//
//   - Silent, TooShort, TooLong, Unreadable: such a clip cannot be looked for.
//   - Noise: a hiss, applause, a breath. It has no landmarks that survive an
//     encoder.
//   - Steady: a tone or a hum, of which no offset is more right than the next.
//   - Duplicate: the same sound as another clip; all but the first are named.
//   - Contained: another clip holds all of it, so that each place of that one is a
//     place of this one too.
//
// Noise and Steady are told by how the spectrum moves: of each band, the power of
// each frame over the band's mean, as a geometric mean, weighted by the bands'
// power. That is 0.56 for any noise that goes on (e to the minus Euler's constant:
// the power of noise is exponentially distributed), whatever its colour; near 1 for
// what does not move at all; and far below for speech and most music. Chords that go
// on flicker as noise does, but their tones stand out of the mean spectrum.
//
// Duplicate and Contained are found as any clip is found: all clips are indexed,
// and all clips, one after the other, are the episode. Check takes about 30 ms
// of CPU for a clip of 3 s, and holds its index (package index) besides the one clip
// that it loads. It is deterministic, and starts no goroutine.
//
// What it does not do: it does not know whether a clip is worth looking for.
package cliplint
