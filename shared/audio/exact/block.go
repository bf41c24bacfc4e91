package exact

import "leasehold/shared/audio/spectrum"

// block is a stretch of an episode, ready to be correlated: its samples, their spectrum, and the
// sums that give the energy of each window in it. The screen and the scanner have one each,
// because the length that is best for them differs.
type block struct {
	fft      *spectrum.FFT
	samples  []float32
	spectrum []complex64
	sum      []float64 // sum[i] is that of samples[:i]
	sum2     []float64 // of the squares
}

// newBlock returns a block of n samples, a power of two.
func newBlock(n int) block {
	return block{
		fft: spectrum.NewFFT(n), samples: make([]float32, n), spectrum: make([]complex64, n/2+1),
		sum: make([]float64, n+1), sum2: make([]float64, n+1),
	}
}

// load reads the samples from at on, and computes their spectrum and sums. The sums start at zero
// in each block, so that errors do not add up over the episode. The error is that of reading.
func (b *block) load(s Sound, at int) error {
	if err := s.ReadAt(b.samples, at); err != nil {
		return err
	}
	var sum, sum2 float64
	for i, v := range b.samples {
		x := float64(v)
		sum += x
		sum2 += float64(x * x)
		b.sum[i+1], b.sum2[i+1] = sum, sum2
	}
	b.fft.Forward(b.spectrum, b.samples)
	return nil
}

// energy returns the energy of the n samples of the block from i on, without their mean. n is at
// least 1.
func (b *block) energy(i, n int) float64 {
	d := b.sum[i+n] - b.sum[i]
	return b.sum2[i+n] - b.sum2[i] - d*d/float64(n)
}
