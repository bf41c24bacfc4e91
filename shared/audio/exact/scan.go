package exact

import (
	"context"
	"math"

	"leasehold/shared/audio/spectrum"
)

const (
	// minFFT and goodFFT: from 2^14 to 2^18 points the time for a sample grows from
	// 5 to 6.5 ns; beyond, caches are too small.
	minFFT  = 1 << 14
	goodFFT = 1 << 18
)

// scanner reads an episode once, for a group of clips.
type scanner struct {
	fft  *spectrum.FFT
	hop  int // samples by which a block moves on
	x    []float32
	sum  []float64 // sum[i] is that of x[:i]
	sum2 []float64 // of the squares
	spec []complex64
	bins []complex64 // of a clip's product with the block
	corr []float32   // corr[i] is the product of a clip and the window at i

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
	return &scanner{
		fft: spectrum.NewFFT(n), x: make([]float32, n),
		sum: make([]float64, n+1), sum2: make([]float64, n+1),
		spec: make([]complex64, n/2+1), bins: make([]complex64, n/2+1), corr: make([]float32, n),
	}
}

// scan gives each template's collector all places that reach the threshold.
func (s *scanner) scan(ctx context.Context, episode Source, group []*template, threshold float64) error {
	first := 0
	for i, t := range group {
		if i == len(s.spectra) {
			s.spectra = append(s.spectra, make([]complex64, len(s.spec)))
		}
		t.transform(s.fft, s.spectra[i], s.corr)
		t.places = collector{closest: t.closest()}
		first = min(first, -t.overhang())
	}
	for at := first; at < episode.Len(); at += s.hop {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.load(episode, at); err != nil {
			return err
		}
		for _, t := range group {
			spectrum.Multiply(s.bins, s.spec, t.spectrum)
			s.fft.Inverse(s.corr, s.bins)
			from := max(at, -t.overhang())
			to := min(at+s.hop, episode.Len()-len(t.wave)+t.overhang()+1)
			s.judge(t, s.corr[max(0, from-at):max(0, to-at)], at, from, threshold)
		}
	}
	for _, t := range group {
		t.places.flush()
		t.spectrum = nil
	}
	return nil
}

// load reads a block and transforms it. Its sums start at zero, so that errors do
// not add up over the episode.
func (s *scanner) load(episode Source, at int) error {
	if err := episode.ReadAt(s.x, at); err != nil {
		return err
	}
	var sum, sum2 float64
	for i, v := range s.x {
		x := float64(v)
		sum += x
		sum2 += float64(x * x)
		s.sum[i+1], s.sum2[i+1] = sum, sum2
	}
	s.fft.Forward(s.spec, s.x)
	return nil
}

// energy returns the energy of the n samples of the block from i on, without their mean.
func (s *scanner) energy(i, n int) float64 {
	d := s.sum[i+n] - s.sum[i]
	return s.sum2[i+n] - s.sum2[i] - d*d/float64(n)
}

// judge goes through the correlations of a clip from a place on, in the block that
// begins at at. It skips most steps after one cheap check (reaches).
func (s *scanner) judge(t *template, corr []float32, at, from int, threshold float64) {
	n := len(t.wave)
	silent := silenceRMS * silenceRMS * float64(n)
	for len(corr) > 0 {
		step := corr[:min(len(corr), noiseEvery-from&(noiseEvery-1))]
		if e := s.energy(from-at, n); from&(noiseEvery-1) == 0 && e >= silent {
			t.places.measure(float64(step[0]), e)
		}
		if s.reaches(step, from-at, n, threshold) {
			for i, v := range step {
				c, e := float64(v), s.energy(from-at+i, n)
				if c > 0 && e >= silent && c*c >= threshold*threshold*e {
					t.places.add(place{from + i, c / math.Sqrt(e), c})
				}
			}
		}
		from, corr = from+len(step), corr[len(step):]
	}
}

// reaches reports whether one of the correlations of windows of n samples, from the one
// at i of the block on, may reach the threshold. It compares with the energy of the samples
// that all windows share, because no window has less. A thousandth is left for rounding.
func (s *scanner) reaches(corr []float32, i, n int, threshold float64) bool {
	shared := s.energy(i+len(corr)-1, n-len(corr)+1)
	least := float32(0.999 * threshold * math.Sqrt(max(0, shared)))
	for _, v := range corr {
		if v >= least {
			return true
		}
	}
	return false
}
