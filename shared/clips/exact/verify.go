package exact

import (
	"math"
	"math/cmplx"

	"github.com/mjibson/go-dsp/window"
	"gonum.org/v1/gonum/dsp/fourier"
)

// A place is verified on tiles of time and frequency: 32 ms frames that overlap
// by half, gathered in blocks and in bands of about equal weight for speech.
const (
	frame     = 256
	frameHop  = frame / 2
	maxBlocks = 8  // a clip's frames are split into so many,
	minFrames = 12 // none smaller than this
	// tileLikeness is how much of a tile's clip must be in the episode's: a tenth
	// of the energy is 0.3.
	tileLikeness = 0.35
	// minCoverage is how much of the clip's energy must lie in such tiles. Under something else as loud,
	// 99 of 100 clips have 0.92 and more; of clips that are not played, those that reach the
	// threshold have 0.76 and more, too (docs/benchmarks.md): it only rejects single tones.
	minCoverage = 0.6
)

// bands are the first bins (of 31.25 Hz) of each band, and the end of the last.
var bands = [...]int{2, 6, 10, 14, 19, 25, 32, 41, 52, 66, 84, 106, 128}

// verifier compares one clip with places of an episode.
type verifier struct {
	clip   [][]complex128 // frames' spectra
	fft    *fourier.FFT
	window []float64
	buf    []float64
}

// newVerifier returns a verifier of a clip, whose frames it transforms once.
func newVerifier(wave []float64) *verifier {
	v := &verifier{fft: fourier.NewFFT(frame), window: window.Hann(frame), buf: make([]float64, frame)}
	v.clip = v.frames(wave)
	return v
}

// frames returns the spectra of the frames of a wave; a rest shorter than a frame is left out.
// Each frame is weighted by the window; frames overlap.
func (v *verifier) frames(wave []float64) [][]complex128 {
	var list [][]complex128
	for at := 0; at+frame <= len(wave); at += frameHop {
		for i, w := range v.window {
			v.buf[i] = w * wave[at+i]
		}
		list = append(list, v.fft.Coefficients(nil, v.buf))
	}
	return list
}

// coverage returns the share of the clip's energy that lies in tiles which the window has too, 0
// to 1. The window is as long as the clip. A clip has energy, or it is ErrSilent, so that the
// share is defined.
func (v *verifier) coverage(windowWave []float64) float64 {
	found, all := 0.0, 0.0
	other := v.frames(windowWave)
	blocks := max(1, min(maxBlocks, len(v.clip)/minFrames))
	for b := range blocks {
		from, to := b*len(v.clip)/blocks, (b+1)*len(v.clip)/blocks
		for k := range len(bands) - 1 {
			like, energy := likeness(v.clip[from:to], other[from:to], bands[k], bands[k+1])
			all += energy
			if like >= tileLikeness {
				found += energy
			}
		}
	}
	return found / all
}

// likeness returns the similarity of a and b in a tile, and the energy of a in it. It ignores the
// phase between the two, because a shift of half a sample turns the highest bands. It is 1 for
// equal sounds, and 0 if one of them is silent. A tile is the bins from low to before high of all
// frames.
func likeness(a, b [][]complex128, low, high int) (like, energy float64) {
	var cross complex128
	var other float64
	for f := range a {
		for k := low; k < high; k++ {
			x, y := a[f][k], b[f][k]
			// The conversions forbid fused multiply-add, so that every processor finds the same.
			cross += complex(float64(real(x)*real(y))+float64(imag(x)*imag(y)), float64(real(x)*imag(y))-float64(imag(x)*real(y)))
			energy += float64(real(x)*real(x)) + float64(imag(x)*imag(x))
			other += float64(real(y)*real(y)) + float64(imag(y)*imag(y))
		}
	}
	if energy == 0 || other == 0 {
		return 0, energy
	}
	return cmplx.Abs(cross) / math.Sqrt(energy*other), energy
}

// verify returns the places of a clip that have minCoverage, as matches, cut to the episode.
func (t *template) verify(episode Source, places []place) ([]Match, error) {
	var matches []Match
	if len(places) == 0 {
		return nil, nil
	}
	v, raw, wave := newVerifier(t.wave), make([]float32, len(t.wave)), make([]float64, len(t.wave))
	for _, p := range places {
		if err := episode.ReadAt(raw, p.at); err != nil {
			return nil, err
		}
		for i, x := range raw {
			wave[i] = float64(x)
		}
		coverage := v.coverage(wave)
		if coverage < minCoverage {
			continue
		}
		from, to := max(0, p.at), min(episode.Len(), p.at+len(raw))
		matches = append(matches, Match{Offset: from, Length: to - from, Score: min(1, p.score), Coverage: coverage})
	}
	return matches, nil
}
