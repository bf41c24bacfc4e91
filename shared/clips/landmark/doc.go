// Package landmark finds the features of a sound that survive other sounds over it, other
// levels and other codecs: the peaks of its spectrogram, and pairs of peaks (Wang, An
// Industrial-Strength Audio Search Algorithm, 2003; Six, Olaf, 2020).
//
// A Peak is a bin that is the loudest of the ±10 bins and ±8 frames around it (312 Hz
// and 128 ms); there are about 50 a second. A Landmark is a pair of peaks: 20 bits of
// hash from the first one's bin (8), the distance in bins (6) and in frames (6), and
// the first one's frame. Each peak is paired with up to 6 later ones, which gives about
// 230 landmarks a second.
//
// All functions work on streams, in the order of time. The peaks depend only on the samples,
// not on how the caller divides the stream into pushes.
//
// Frames come from package spectrum: 8 ms at 8 kHz. Values are for one goroutine.
package landmark
