package exact

import (
	"context"
	"math"

	"leasehold/shared/clips/spectrum"
)

const (
	// minFFT and goodFFT: from 2^14 to 2^18 points the time for a sample grows from
	// 5 to 6.5 ns; beyond, caches are too small.
	minFFT  = 1 << 14
	goodFFT = 1 << 18
)

// scanner reads an episode once, for a group of clips.
type scanner struct {
	block
	hop     int           // samples by which a block moves on
	product []complex64   // of a clip's spectrum and the block's
	corr    []float32     // corr[i] is the product of a clip and the window at i
	spectra [][]complex64 // of the clips of a group
}

// blockLength is the length of the FFT for clips of at most so many samples in an
// episode of so many. Eight times the clip wastes an eighth of each block, twice
// the clip half; no block needs to hold more than the episode and what overhangs.
func blockLength(longest, episode int) int {
	return max(min(fftLength(longest, 8), fftLength(episode+longest, 1), goodFFT), fftLength(longest, 2))
}

// newScanner returns a scanner with blocks of n samples.
func newScanner(n int) *scanner {
	s := &scanner{block: newBlock(n), product: make([]complex64, n/2+1), corr: make([]float32, n)}
	s.sums = &sums{}
	return s
}

// load loads the block, and computes its sums.
func (s *scanner) load(sound Sound, at int) error {
	if err := s.block.load(sound, at); err != nil {
		return err
	}
	s.sums.set(s.samples, at)
	return nil
}

// scan gives each template's collector all places that reach the threshold. It reads the episode
// once, from a quarter of the longest clip before its begin on.
func (s *scanner) scan(ctx context.Context, episode Source, group []*template, threshold float64) error {
	first := 0
	for i, t := range group {
		if i == len(s.spectra) {
			s.spectra = append(s.spectra, make([]complex64, len(s.spectrum)))
		}
		t.transform(s.fft, s.spectra[i], s.corr)
		t.places = collector{closest: t.closest()}
		first = min(first, -overhang(len(t.wave)))
	}
	for at := first; at < episode.Len(); at += s.hop {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.load(episode, at); err != nil {
			return err
		}
		for _, t := range group {
			spectrum.Multiply(s.product, s.spectrum, t.spectrum)
			s.fft.Inverse(s.corr, s.product)
			from := max(at, -overhang(len(t.wave)))
			to := min(at+s.hop, episode.Len()-len(t.wave)+overhang(len(t.wave))+1)
			s.collectPlaces(t, s.corr[max(0, from-at):max(0, to-at)], at, from, threshold)
		}
	}
	for _, t := range group {
		t.places.flush()
		t.spectrum = nil
	}
	return nil
}

// collectPlaces goes through the correlations of a clip with the windows from a sample of the
// episode on, in the block that begins at at, and adds those that reach the threshold to
// t.places. It skips most steps after one cheap check (reaches). Each step ends at a multiple of
// noiseEvery, so that the spread is measured at the same windows wherever blocks begin. Silent
// windows are left out, so that no energy is 0.
func (s *scanner) collectPlaces(t *template, corr []float32, at, from int, threshold float64) {
	n := len(t.wave)
	silent := silence(n)
	for len(corr) > 0 {
		step := corr[:min(len(corr), noiseEvery-from&(noiseEvery-1))]
		if e := s.energy(from-at, n); from&(noiseEvery-1) == 0 && e >= silent {
			t.places.measure(float64(step[0]), e)
		}
		if s.reaches(step, from-at, n, threshold) {
			for i, v := range step {
				c, e := float64(v), s.energy(from-at+i, n)
				if e >= silent && c*c >= threshold*threshold*e {
					t.places.add(place{from + i, math.Abs(c) / math.Sqrt(e), c})
				}
			}
		}
		from, corr = from+len(step), corr[len(step):]
	}
}

// reaches reports whether one of the correlations of windows of n samples, from the one
// at i of the block on, may reach the threshold. It compares with the energy of the samples
// that all windows share, because no window has less, and none that counts is silent. A thousandth
// is left for rounding.
func (s *scanner) reaches(corr []float32, i, n int, threshold float64) bool {
	shared := s.energy(i+len(corr)-1, n-len(corr)+1)
	least := float32(0.999 * threshold * math.Sqrt(max(silence(n), shared)))
	for _, v := range corr {
		if v >= least || -v >= least {
			return true
		}
	}
	return false
}
