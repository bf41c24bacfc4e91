package index

import (
	"math"
	"math/rand/v2"
	"slices"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/spectrum"
)

const (
	// FewLandmarks is the number of landmarks below which a clip is plain. Pure tones, thumps
	// and some clips of a third of a second have fewer.
	FewLandmarks = 15
	// tonalBins: a clip is plain if its loudest tonalBins of 2,048 bins hold tonalShare of the
	// energy, as those of a bell or a gong do. The landmarks of such a clip lie in the
	// remaining energy, so any other sound masks them; and its tones correlate at any shift,
	// so no peak of the waveform stands out. Of 804 clips of speech, music and effects, 8 are
	// plain for this reason.
	tonalBins   = 32
	tonalShare  = 0.9
	tonalWindow = 4096
	lowestTonal = 8 // bin: 16 Hz, above an offset from zero
	// A clip is plain too if fewer than leastLasting of its landmarks remain beside faintNoise, which is its
	// own loudness divided by 32 (-30 dB), less than an MP3 adds. A held note of an organ or a
	// synthesiser is equally loud for many frames, so noise decides in which one its peak is. Of six
	// held notes with four harmonics 0.03 remain. Of 720 clips of speech and music four are plain for this reason.
	leastLasting = 0.1
	faintNoise   = 1. / 32
)

// isPlain reports whether a search must use plain correlation for a clip with its own pairs: its
// landmarks at all alignments are too few, its own do not last, or a few bins hold most of its energy. A silent clip
// is plain, because it has no landmarks.
func isPlain(samples []float32, own []landmark.Pair, landmarks int) bool {
	return landmarks < FewLandmarks || fewBins(samples) || !landmarksLast(samples, own)
}

// landmarksLast reports whether enough of a clip's landmarks of two tones remain beside faint noise, at most one
// frame from where they were.
func landmarksLast(samples []float32, own []landmark.Pair) bool {
	remain := map[landmark.Landmark]bool{}
	for _, l := range landmark.Of(beside(samples, faintNoise)) {
		for late := -1; late <= 1; late++ {
			remain[landmark.Landmark{Hash: l.Hash, Frame: l.Frame + late}] = true
		}
	}
	some := 0
	for _, p := range own {
		if remain[p.Landmark()] {
			some++
		}
	}
	return float64(some) >= leastLasting*float64(len(own))
}

// beside returns samples with white noise, always the same, of a loudness relative to theirs.
func beside(samples []float32, loudness float64) []float32 {
	power := 0.0
	for _, v := range samples {
		power += float64(float64(v) * float64(v))
	}
	// Values between -1 and 1 have a mean power of one third. The random ones are between -2³¹ and 2³¹.
	level := float32(loudness * math.Sqrt(3*power/float64(max(1, len(samples)))) / (1 << 31))
	random := rand.New(rand.NewPCG(1, 1))
	noisy := make([]float32, len(samples))
	for i, v := range samples {
		noisy[i] = v + float32(level*float32(int32(random.Uint32())))
	}
	return noisy
}

// fewBins reports whether a few bins hold most of a clip's energy over all windows.
func fewBins(samples []float32) bool {
	fft := spectrum.NewFFT(tonalWindow)
	windowed, bins, power := make([]float32, tonalWindow), make([]complex64, tonalWindow/2+1), make([]float64, tonalWindow/2)
	for at := 0; at == 0 || at+tonalWindow/2 < len(samples); at += tonalWindow / 2 {
		clear(windowed)
		for i, v := range samples[at:min(at+tonalWindow, len(samples))] {
			windowed[i] = v * hann[i]
		}
		fft.Forward(bins, windowed)
		for k := lowestTonal; k < len(power); k++ {
			re, im := float64(real(bins[k])), float64(imag(bins[k]))
			power[k] += float64(re*re) + float64(im*im)
		}
	}
	all := 0.0
	for _, p := range power {
		all += p
	}
	slices.Sort(power)
	some := 0.0
	for _, p := range power[len(power)-tonalBins:] {
		some += p
	}
	return some >= tonalShare*all
}

var hann = func() (w [tonalWindow]float32) {
	for i := range w {
		w[i] = float32(.5 - float64(.5*math.Cos(2*math.Pi*float64(i)/tonalWindow)))
	}
	return w
}()
