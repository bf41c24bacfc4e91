package exact

import "leasehold/shared/clips/spectrum"

// block is a stretch of an episode, ready to be correlated: its samples, their spectrum, and the
// sums that give the energy of each window in it. The screen and the scanner have one each, because
// they work best with different lengths.
type block struct {
	fft      *spectrum.FFT
	at       int // position of the first sample in the sound
	samples  []float32
	spectrum []complex64
	sums     *sums
}

// newBlock returns a block of n samples, a power of two, without sums.
func newBlock(n int) block {
	return block{fft: spectrum.NewFFT(n), samples: make([]float32, n), spectrum: make([]complex64, n/2+1)}
}

// load reads the samples from at on, and computes their spectrum. The sums are set by the caller.
func (b *block) load(s Sound, at int) error {
	if err := s.ReadAt(b.samples, at); err != nil {
		return err
	}
	b.at = at
	b.fft.Forward(b.spectrum, b.samples)
	return nil
}

// energy returns the energy of the n samples of the block from i on, without their mean. n is at
// least 1.
func (b *block) energy(i, n int) float64 { return b.sums.energy(b.at+i, n) }

// sums has the cumulative sums of a stretch of a sound.
type sums struct {
	first int       // position of the first sample in the sound
	sum   []float64 // sum[i] is the sum of the first i samples
	sum2  []float64 // of the squares
}

// set computes the sums of the samples from first on. They start at zero, so that errors do not add up
// over the episode.
func (s *sums) set(samples []float32, first int) {
	if n := len(samples) + 1; cap(s.sum) < n {
		s.sum, s.sum2 = make([]float64, n), make([]float64, n)
	}
	s.first, s.sum, s.sum2 = first, s.sum[:len(samples)+1], s.sum2[:len(samples)+1]
	var sum, sum2 float64
	for i, v := range samples {
		x := float64(v)
		sum += x
		sum2 += float64(x * x)
		s.sum[i+1], s.sum2[i+1] = sum, sum2
	}
}

// energy returns the energy of the n samples from a position on, without their mean. n is at least 1.
func (s *sums) energy(at, n int) float64 {
	i := at - s.first
	d := s.sum[i+n] - s.sum[i]
	return s.sum2[i+n] - s.sum2[i] - d*d/float64(n)
}
