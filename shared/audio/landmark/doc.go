// Package landmark finds what is left of a sound when it is played under other
// sounds, at other levels and through other codecs: the peaks of its spectrogram,
// and pairs of them (Wang, An Industrial-Strength Audio Search Algorithm, 2003; Six,
// Olaf, 2020).
//
// A Peak is a bin that is the loudest of the ±10 bins and ±8 frames around it (312 Hz
// and 128 ms); there are about 50 a second. A Landmark is a pair of peaks: 20 bits of
// hash from the first one's bin (8), the distance in bins (6) and in frames (6), and
// the first one's frame. Each peak is paired with up to 6 later ones, which gives about
// 230 landmarks a second.
//
// All is streaming, in the order of time, and depends on nothing but the samples:
// however the stream is cut into pushes, the same peaks come out. Peaks hold all that
// landmarks are made of, in a tenth of the space.
//
// Frames are those of package spectrum: 8 ms at 8 kHz. Values are for one goroutine.
package landmark
