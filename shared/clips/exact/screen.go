package exact

import (
	"context"

	"leasehold/shared/clips/spectrum"
)

// screenLengths are the lengths of the screens' blocks in samples. A block has four times the samples
// of its clips, so that at most a quarter of it overlaps the next one, or all of a window of a
// Stream. Clips that would need more (those above 32 s) are not screened: they may begin anywhere. There is no
// length between the first two, because each takes a transform of the sound: with 2^16 and
// 2^17, reading and transforming it took half of the time of plain correlation.
var screenLengths = [...]int{1 << 15, 1 << 18, 1 << 19}

const (
	// rounding is the share of its score that a clip must reach when the screen correlates the whole
	// of it, because the block of Stream.find is another one: rounding changes a score by some thousandths
	// where something 60 dB louder is near.
	rounding = 0.99
)

// screen rules out clips of about one length in three steps. Each step costs more than the one before,
// and is done for the clips that passed that: it correlates the loudest narrow bands, which have half of the clip's
// energy, then wider ones that have nearly all (outline), then the whole clip. All clips share one transform
// of the sound.
//
// The whole clip is correlated in the block in which it passed, because this is cheaper than a
// search of the window (Stream.find): most clips that pass the bands reach less than their score
// there.
type screen struct {
	*scanner
	longest      int // samples of any clip
	clips        []screened
	conjugate    []complex64           // of the block's spectrum
	powers, next []float32             // of envelopes
	ffts         map[int]*spectrum.FFT // of the bands, by their lengths
}

// screened is a clip of a screen.
type screened struct {
	*outline
	clip  int // the caller's number of it
	load  func(context.Context) ([]float32, error)
	score float64 // the least that its places must have
}

// screenLength is the length of the block in which clips of so many samples are screened; 0 if they
// are not.
func screenLength(samples int) int {
	least := min(4*samples, StreamWindow+samples*3/2)
	for _, n := range screenLengths {
		if n >= least {
			return n
		}
	}
	return 0
}

// newScreen returns a screen with a block of n samples (screenLength).
func newScreen(n int) *screen {
	return &screen{
		scanner: newScanner(n), conjugate: make([]complex64, n/2), powers: make([]float32, n/minBands), next: make([]float32, n/minBands),
		ffts: map[int]*spectrum.FFT{},
	}
}

// transform returns the FFT of a length, which the bands of that width share.
func (s *screen) transform(n int) *spectrum.FFT {
	f := s.ffts[n]
	if f == nil {
		f = spectrum.NewFFT(n)
		s.ffts[n] = f
	}
	return f
}

// include includes a clip, and the least score that its places must have. The outline is that for the
// screen's block. load returns its samples again.
func (s *screen) include(clip int, o *outline, score float64, load func(context.Context) ([]float32, error)) {
	s.longest = max(s.longest, o.samples)
	s.clips = append(s.clips, screened{o, clip, load, score})
}

// reads returns the first and the last of the samples whose energy search needs. The last window of a clip
// begins up to two values of its narrowest envelope after before.
func (s *screen) reads(from, before int) (first, last int) {
	return from - s.longest/2, before + s.longest + 2*maxBands
}

// search returns the clips that may begin at a sample from from to before, or half of the longest
// clip earlier, in a sound of length samples, in the order of include. energies covers at least the
// samples of reads.
func (s *screen) search(ctx context.Context, sound Sound, energies *sums, from, before, length int) (found []int, err error) {
	s.sums = energies
	from -= s.longest / 2
	may, left := make([]bool, len(s.clips)), len(s.clips)
	for hop := len(s.samples) - s.longest; left > 0 && from < before; from += hop {
		if err := s.block.load(sound, from); err != nil {
			return nil, err
		}
		spectrum.Conjugate(s.conjugate, s.spectrum[:len(s.conjugate)])
		for i, c := range s.clips {
			if may[i] {
				continue
			}
			out := overhang(c.samples)
			first, end := max(0, -out-from), min(hop, before-from, length-c.samples+out+1-from)
			if may[i], err = s.begins(ctx, c, first, end); err != nil {
				return nil, err
			}
			if may[i] {
				left--
			}
		}
	}
	for i, c := range s.clips {
		if may[i] {
			found = append(found, c.clip)
		}
	}
	return found, nil
}

// begins reports whether a clip may begin between two samples of the loaded block.
func (s *screen) begins(ctx context.Context, c screened, from, before int) (bool, error) {
	if !s.mayBegin(c.outline, c.score, from, before) {
		return false, nil
	}
	return s.correlates(ctx, c, from, before)
}

// correlates reports whether the whole clip may reach its score between two samples of the loaded
// block. For a clip with a fault it does, because Stream.find reports nothing of it.
func (s *screen) correlates(ctx context.Context, c screened, from, before int) (bool, error) {
	wave, err := c.load(ctx)
	if err != nil {
		return false, err
	}
	t, err := newTemplate("", wave, len(s.samples))
	if err != nil {
		return true, nil
	}
	t.transform(s.fft, s.product, s.corr)
	spectrum.Multiply(s.product, s.product, s.spectrum)
	s.fft.Inverse(s.corr, s.product)
	for from < before {
		step := s.corr[from:min(from+noiseEvery, before)]
		if s.scanner.reaches(step, from, c.samples, c.score*rounding) {
			return true, nil
		}
		from += len(step)
	}
	return false, nil
}
