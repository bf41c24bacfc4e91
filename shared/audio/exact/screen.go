package exact

import (
	"context"
	"math"
	"math/bits"

	"leasehold/shared/audio/spectrum"
)

const (
	// screenFFT is the least length of a screen's block in samples. A block has four times the samples
	// of its clips, so that at most a quarter of it overlaps the next one, or all of a window of a
	// Stream. Clips that would need more than screenMost (those above 32 s) are not screened: they may
	// begin anywhere.
	screenFFT  = 1 << 15
	screenMost = 1 << 19
	// bandShare of a clip's energy lies in its band. The rest can add √(1-bandShare) = 0.35 to a
	// score, so at the default threshold of 0.6 the band itself must reach 0.25. With less, the
	// band rules out few places; more needs wider bands, whose transforms are the main cost.
	bandShare = 0.88
	// rounding is the share of its score that a clip must reach when the screen correlates the whole
	// of it, because the block of Stream.find is another one: rounding changes a score by some thousandths
	// where something 60 dB louder is near.
	rounding = 0.99
)

// screen rules out clips of about one length: it correlates the one band that has nearly all of the
// clip's energy, at the lower rate that the band needs. All clips share one transform of the sound. It
// misses no place, because by the inequality of Cauchy and Schwarz the rest of the spectrum adds no
// more than its share to a score.
//
// A clip that passes in a block is then correlated with it as a whole, because that is cheaper than a
// search of the window (Stream.find): most clips that pass reach less than their score there.
type screen struct {
	*scanner
	longest int // samples of any clip
	bands   []band
}

// band is a clip, limited to the band that has most of its energy.
type band struct {
	clip     int // the caller's number of it
	samples  int
	load     func(context.Context) ([]float32, error)
	score    float64 // the least that its places must have
	first    int     // bin
	spectrum []complex64
	inverse  *spectrum.FFT
	envelope []complex64
	least    float64 // of the envelope's power, in the window's energy; 0 finds all
}

// screenLength is the length of the block in which clips of so many samples are screened; 0 if they
// are not.
func screenLength(samples int) int {
	least := min(4*samples, StreamWindow+samples*3/2)
	for n := screenFFT; n <= screenMost; n *= 2 {
		if n >= least {
			return n
		}
	}
	return 0
}

// newScreen returns a screen with a block of n samples (screenLength).
func newScreen(n int) *screen { return &screen{scanner: newScanner(n)} }

// add adds a clip, and the least score that its places must have. load returns its samples again.
func (s *screen) add(clip int, wave []float32, least float64, load func(context.Context) ([]float32, error)) {
	b := s.band(wave, least)
	b.clip, b.score, b.load = clip, least, load
	s.longest = max(s.longest, len(wave))
	s.bands = append(s.bands, b)
}

// band returns the narrowest band of a power of two bins that has bandShare of a clip, and the
// power that its envelope must reach for a score of score. It uses the buffers of the block. The
// clip is not silent (Check), so no energy is 0.
func (s *screen) band(wave []float32, score float64) band {
	n, m := len(s.samples), mean(wave)
	clear(s.samples)
	for i, v := range wave {
		s.samples[i] = v - float32(m)
	}
	s.fft.Forward(s.spectrum, s.samples)
	all := 0.0
	for _, v := range s.spectrum {
		all += norm(v)
	}
	width, first, share := narrowest(s.spectrum[:n/2], all)
	least := max(0, score-math.Sqrt(max(0, 1-share)))
	b := band{samples: len(wave), first: first, least: least * least, inverse: spectrum.NewFFT(4 * width), envelope: make([]complex64, 2*width)}
	// The whole has an energy of all/(n/2), and an envelope is twice the sum over its bins.
	scale := float32(2 / float64(n) / math.Sqrt(all/float64(n/2)))
	for _, v := range s.spectrum[first : first+width] {
		b.spectrum = append(b.spectrum, complex(real(v)*scale, -imag(v)*scale))
	}
	return b
}

// narrowest returns the band that has bandShare of all, in the fewest bins: their number (width),
// its first bin and its share; all bins if no smaller band has it. all is the energy of the bins
// and not 0.
func narrowest(bins []complex64, all float64) (width, first int, share float64) {
	for width = len(bins) / 64; ; width *= 2 {
		sum, best := 0.0, 0.0
		for k, v := range bins {
			sum += norm(v)
			if k >= width {
				sum -= norm(bins[k-width])
			}
			if k >= width-1 && sum > best {
				best, first = sum, k+1-width
			}
		}
		if share = best / all; share >= bandShare || width == len(bins) {
			return width, first, share
		}
	}
}

func norm(v complex64) float64 {
	return float64(float64(real(v))*float64(real(v))) + float64(float64(imag(v))*float64(imag(v)))
}

// search returns the numbers of the clips that may begin at a sample from from to before, or half
// of the longest clip earlier, in a sound of length samples, in the order of add. Clips whose
// band rules out nothing (least is 0) are always among them. It stops when no clip is left to be
// ruled out. The error is that of reading the sound or of loading a clip.
func (s *screen) search(ctx context.Context, sound Sound, from, before, length int) (clips []int, err error) {
	from -= s.longest / 2
	may, left := make([]bool, len(s.bands)), 0
	for i, b := range s.bands {
		may[i] = b.least == 0
		left += btoi(!may[i])
	}
	for hop := len(s.samples) - s.longest; left > 0 && from < before; from += hop {
		if err := s.load(sound, from); err != nil {
			return nil, err
		}
		for i := range s.bands {
			if b := &s.bands[i]; !may[i] {
				out := overhang(b.samples)
				first, end := max(0, -out-from), min(hop, before-from, length-b.samples+out+1-from)
				if may[i] = s.begins(b, first, end); may[i] {
					if may[i], err = s.correlates(ctx, b, first, end); err != nil {
						return nil, err
					}
				}
				left -= btoi(may[i])
			}
		}
	}
	for i, b := range s.bands {
		if may[i] {
			clips = append(clips, b.clip)
		}
	}
	return clips, nil
}

// btoi returns 1 for true and 0 for false, to count.
func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// begins reports whether a clip may begin between two samples of the loaded block. The
// envelope has twice the values that its band needs, so that a peak between two values has
// no more power than both together.
func (s *screen) begins(b *band, from, before int) bool {
	clear(b.envelope[len(b.spectrum):])
	spectrum.Multiply(b.envelope, s.spectrum[b.first:][:len(b.spectrum)], b.spectrum)
	b.inverse.InverseComplex(b.envelope, b.envelope)
	shift := bits.TrailingZeros(uint(len(s.samples) / len(b.envelope))) // samples between two values
	end := min((before-1)>>shift+1, (len(s.samples)-b.samples)>>shift)
	step := max(1, b.samples>>shift/8)
	for m := from >> shift; m < end; m += step {
		if s.reaches(b, m, min(m+step, end), shift) {
			return true
		}
	}
	return false
}

// correlates reports whether the whole clip may reach its score between two samples of the loaded
// block. It reports true for a clip that Stream.find will refuse, because that reports nothing of
// it. The error is that of load.
func (s *screen) correlates(ctx context.Context, b *band, from, before int) (bool, error) {
	wave, err := b.load(ctx)
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
		if s.scanner.reaches(step, from, b.samples, b.score*rounding) {
			return true, nil
		}
		from += len(step)
	}
	return false, nil
}

// reaches reports whether the envelope has enough power between two of its values. It first
// compares with the energy of the samples that all windows there share, because no window has
// less; most stretches fail this cheap check.
func (s *screen) reaches(b *band, from, to, shift int) bool {
	most, last := 0.0, norm(b.envelope[from])
	for _, v := range b.envelope[from+1 : to+1] {
		next := norm(v)
		most, last = max(most, last+next), next
	}
	silent := silence(b.samples)
	if most < b.least*max(silent, s.energy(to<<shift, b.samples-(to-from)<<shift)) {
		return false
	}
	for m := from; m < to; m++ {
		energy := min(s.energy(m<<shift, b.samples), s.energy((m+1)<<shift, b.samples))
		if norm(b.envelope[m])+norm(b.envelope[m+1]) >= b.least*max(silent, energy) {
			return true
		}
	}
	return false
}
