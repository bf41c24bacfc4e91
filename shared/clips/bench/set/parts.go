package set

import (
	"math"
	"math/cmplx"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/dsp/fourier"

	"leasehold/shared/clips"
)

const (
	partBlock    = clips.RateHz / 2
	maxBlocks    = 8   // most blocks of a clip that are looked for in another one, evenly spaced
	partScore    = .35 // correlation of a block; by chance it stays below 0.15
	partShare    = .4  // share of a clip's blocks that must recur
	partTogether = 16  // samples by which blocks of one occurrence may differ
)

// parts finds the places where much of a clip, but not all of it, recurs in another clip
// of the same track or game. This is common, because sequenced music plays the same drums under
// other chords, and effects are layered. Clips are compared by their higher frequencies
// (the difference of neighbouring samples), because drums have those.
func parts(clips []candidate) []Relation {
	var all []Relation
	for _, group := range byFolder(clips) {
		for _, host := range group {
			h := newHost(host.wave)
			for _, c := range group {
				if c.ID == host.ID {
					continue
				}
				for _, at := range h.occurrences(c.wave) {
					all = append(all, Relation{Clip: c.ID, Within: host.ID, OffsetS: seconds8k(at), Part: true})
				}
			}
		}
	}
	return all
}

// joinClasses gives the clips that share parts one class, and marks the clips of such classes
// (Loops). It looks the classes up again for each relation, because merge changes them.
func joinClasses(clips []candidate, shared []Relation) {
	class := map[string]string{}
	for _, r := range shared {
		for _, c := range clips {
			class[c.ID] = c.Class
		}
		merge(clips, class[r.Clip], class[r.Within])
	}
	loops := map[string]bool{}
	for _, r := range shared {
		for _, c := range clips {
			if c.ID == r.Clip {
				loops[c.Class] = true
			}
		}
	}
	for i := range clips {
		clips[i].Loops = loops[clips[i].Class]
	}
}

// byFolder groups the clips that may share sounds: cuts of one track, and effects of one folder.
// Groups come in the order of their first clip, so that it does not depend on a map.
func byFolder(clips []candidate) [][]candidate {
	var names []string
	groups := map[string][]candidate{}
	for _, c := range clips {
		name := c.Source
		if c.Kind == Effect {
			name = filepath.Dir(name)
		} else if i := strings.LastIndex(name, " at "); i > 0 {
			name = name[:i]
		}
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], c)
	}
	var all [][]candidate
	for _, name := range names {
		all = append(all, groups[name])
	}
	return all
}

// host is a clip searched for blocks of others.
type host struct {
	fft      *fourier.FFT
	n, size  int
	spectrum []complex128
	squares  []float64 // sum of the squares before each sample
}

// newHost prepares a clip: its spectrum, padded so that no block wraps around, and the sums of
// its squares.
func newHost(wave []float32) *host {
	x := emphasised(wave)
	h := &host{size: len(x), n: 1, squares: make([]float64, len(x)+1)}
	for h.n < len(x)+partBlock {
		h.n *= 2
	}
	for i, v := range x {
		h.squares[i+1] = h.squares[i] + v*v
	}
	h.fft = fourier.NewFFT(h.n)
	h.spectrum = h.fft.Coefficients(nil, append(x, make([]float64, h.n-len(x))...))
	return h
}

// emphasised returns the differences of neighbouring samples.
func emphasised(wave []float32) []float64 {
	x := make([]float64, len(wave))
	for i := 1; i < len(wave); i++ {
		x[i] = float64(wave[i]) - float64(wave[i-1])
	}
	return x
}

// occurrences returns the offsets at which enough blocks of a clip are found: partShare of them
// state the same start of the clip, within partTogether samples. A clip shorter than a block has
// none.
func (h *host) occurrences(wave []float32) []int {
	x := emphasised(wave)
	blocks := min(maxBlocks, len(x)/partBlock)
	if blocks == 0 {
		return nil
	}
	var starts []int // start of the clip, computed from each block
	for i := range blocks {
		from := i * (len(x) - partBlock) / max(1, blocks-1)
		for _, at := range h.places(x[from:][:partBlock]) {
			starts = append(starts, at-from)
		}
	}
	slices.Sort(starts)
	var all []int
	need := int(math.Ceil(partShare * float64(blocks)))
	for len(starts) > 0 {
		n := 1
		for n < len(starts) && starts[n]-starts[0] <= partTogether {
			n++
		}
		if n >= need {
			all = append(all, starts[0])
		}
		starts = starts[n:]
	}
	return all
}

// places returns the offsets at which a block is found, the best of each tenth of a second, where
// the correlation, scaled by the energy of both, is at least partScore. It correlates all offsets
// at once by the FFT.
func (h *host) places(block []float64) []int {
	energy := 0.0
	for _, v := range block {
		energy += v * v
	}
	spectrum := h.fft.Coefficients(nil, append(slices.Clone(block), make([]float64, h.n-len(block))...))
	for k, v := range spectrum {
		spectrum[k] = h.spectrum[k] * cmplx.Conj(v)
	}
	products := h.fft.Sequence(nil, spectrum)
	const apart = clips.RateHz / 10
	var all []int
	best := 0.0
	for at := 0; at+len(block) <= h.size; at++ {
		score := products[at] / float64(h.n) / math.Sqrt(energy*(h.squares[at+len(block)]-h.squares[at])+1e-12)
		switch {
		case score < partScore:
		case len(all) == 0 || at-all[len(all)-1] > apart:
			all, best = append(all, at), score
		case score > best:
			all[len(all)-1], best = at, score
		}
	}
	return all
}
