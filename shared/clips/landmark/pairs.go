package landmark

const (
	// fanOut is the maximum number of pairs of a peak. The index and the votes grow with it, and the
	// chance that a pair survives another sound too: with 50 peaks a second, 6 give 230 landmarks.
	fanOut    = 6
	minFrames = 2  // minimum distance of the two peaks: one frame later is mostly the same tone
	maxBins   = 31 // with its sign 6 bits, as many as MaxFrames; the first bin has the other 8
	// MaxFrames is the longest distance between the two peaks: 0.5 s.
	MaxFrames = 63
	// HashBits is the size of a hash in bits.
	HashBits = 20
)

// Landmark is what a search uses of a Pair.
type Landmark struct {
	Hash  uint32 // below 1<<HashBits
	Frame int    // of the first peak
}

// Pair is two peaks.
type Pair struct{ First, Second Peak }

// Landmark returns the pair's landmark. Its hash has the bin of the first peak, the difference of bins and the
// frames between them.
func (p Pair) Landmark() Landmark {
	bins := int(p.Second.Bin) - int(p.First.Bin)
	return Landmark{uint32(p.First.Bin)<<12 | uint32(bins+maxBins)<<6 | uint32(p.Second.Frame-p.First.Frame), p.First.Frame}
}

// Power returns the power of the weaker peak, because another sound masks it first.
func (p Pair) Power() float32 { return min(p.First.Power, p.Second.Power) }

// Hashes is a set of hashes: a bitmap.
type Hashes []uint64

// NewHashes returns an empty set.
func NewHashes() Hashes { return make(Hashes, 1<<HashBits/64) }

// Add adds a hash to the set.
func (h Hashes) Add(hash uint32) { h[hash/64] |= 1 << (hash % 64) }

// Has reports whether a hash is in the set.
func (h Hashes) Has(hash uint32) bool { return h[hash/64]>>(hash%64)&1 != 0 }

// Bins returns the bins of the two peaks of a hash, and their distance in frames.
func Bins(hash uint32) (first, second, frames int) {
	first = int(hash >> 12)
	return first, first + int(hash>>6&63) - maxBins, int(hash & 63)
}

// SameBin reports whether the two peaks of a hash have one bin, as those of a tone that goes on.
func SameBin(hash uint32) bool { return hash>>6&63 == maxBins }

// Pairs makes pairs of a stream of peaks. The zero value is ready for use.
type Pairs struct {
	open []Peak // may still pair with later peaks
}

// Push takes the next peak, in the order of Peaks. It calls emit with the pairs of each
// peak that can pair with no later one, in the order of time.
func (p *Pairs) Push(next Peak, emit func(Pair)) {
	p.Pass(next.Frame, emit)
	p.open = append(p.open, next)
}

// Pass calls emit with the pairs of each peak that can pair with none from a frame on, because no
// earlier one will come. In silence no peak comes that would tell.
func (p *Pairs) Pass(frame int, emit func(Pair)) {
	done := 0
	for done < len(p.open) && p.open[done].Frame+MaxFrames < frame {
		pair(p.open[done:], emit)
		done++
	}
	if done > 0 {
		p.open = p.open[:copy(p.open, p.open[done:])]
	}
}

// Flush calls emit with the pairs of the last peaks. Pairs is then ready for a new stream.
func (p *Pairs) Flush(emit func(Pair)) {
	for i := range p.open {
		pair(p.open[i:], emit)
	}
	p.open = p.open[:0]
}

// pair emits the pairs of the first peak with up to fanOut of the others, which are in the order of
// time. It stops at the first one too late.
func pair(peaks []Peak, emit func(Pair)) {
	first, left := peaks[0], fanOut
	for _, second := range peaks[1:] {
		frames, bins := second.Frame-first.Frame, int(second.Bin)-int(first.Bin)
		if frames > MaxFrames {
			return
		}
		if frames < minFrames || bins < -maxBins || bins > maxBins {
			continue
		}
		emit(Pair{first, second})
		if left--; left == 0 {
			return
		}
	}
}

// Of returns the landmarks of a whole sound of 8 kHz, in the order of time.
func Of(samples []float32) []Landmark {
	var all []Landmark
	pairs(samples, func(p Pair) { all = append(all, p.Landmark()) })
	return all
}

// PairsOf returns the pairs of a whole sound of 8 kHz, in the order of their landmarks.
func PairsOf(samples []float32) []Pair {
	var all []Pair
	pairs(samples, func(p Pair) { all = append(all, p) })
	return all
}

// pairs calls emit with the pairs of a whole sound.
func pairs(samples []float32, emit func(Pair)) {
	var pairs Pairs
	peaks := NewPeaks()
	push := func(p Peak) { pairs.Push(p, emit) }
	peaks.Push(samples, push)
	peaks.Flush(push)
	pairs.Flush(emit)
}
