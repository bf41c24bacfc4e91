package exact

import (
	"context"

	"leasehold/shared/clips/spectrum"
)

// Set is clips that were prepared for Streams: what their screens need of each clip's spectrum. Any number of
// Streams may use it, also at once.
type Set struct{ clips []prepared }

// prepared is a clip of a Set.
type prepared struct {
	Clip
	samples int
	block   int     // length of the block in which it is screened (screenLength); 0 if it is not
	outline outline // for that block
	faulty  bool    // Find would report no match of it (Check)
}

// NewSet prepares clips. It calls Load of each once; a Stream calls it again in each window where
// the clip may begin.
func NewSet(ctx context.Context, clips []Clip) (*Set, error) {
	s, outliners := &Set{}, map[int]*outliner{}
	for _, c := range clips {
		wave, err := c.Load(ctx)
		if err != nil {
			return nil, err
		}
		p := prepared{Clip: c, samples: len(wave), block: screenLength(len(wave)), faulty: Check(wave) != nil}
		if p.block > 0 && !p.faulty {
			if outliners[p.block] == nil {
				outliners[p.block] = newOutliner(p.block)
			}
			p.outline = outliners[p.block].of(wave)
		}
		s.clips = append(s.clips, p)
	}
	return s, nil
}

// outliner makes the outlines of clips for blocks of one length.
type outliner struct {
	fft      *spectrum.FFT
	samples  []float32
	spectrum []complex64
}

// newOutliner returns one for blocks of n samples.
func newOutliner(n int) *outliner {
	return &outliner{spectrum.NewFFT(n), make([]float32, n), make([]complex64, n/2+1)}
}

// of returns the outline of a clip, which is not silent (Check) nor longer than the block.
func (o *outliner) of(wave []float32) outline {
	m := float32(mean(wave))
	clear(o.samples)
	for i, v := range wave {
		o.samples[i] = v - m
	}
	o.fft.Forward(o.spectrum, o.samples)
	return newOutline(len(wave), o.spectrum[:len(o.samples)/2])
}
