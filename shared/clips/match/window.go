package match

// window is the last samples of a stream.
type window struct {
	samples []float32
	first   int // position of samples[0] in the stream
}

func (w *window) push(samples []float32) { w.samples = append(w.samples, samples...) }

// end is how many samples the stream had so far.
func (w *window) end() int { return w.first + len(w.samples) }

// drop forgets the samples before a position, unless they are too few to be worth a copy.
func (w *window) drop(before int) {
	n := max(0, min(before-w.first, len(w.samples)))
	if n < len(w.samples)/2 {
		return // not worth moving the rest
	}
	w.samples = w.samples[:copy(w.samples, w.samples[n:])]
	w.first += n
}

// ReadAt implements verify.Source. Dropped samples, and those still to come, read as silence. It
// never fails.
func (w *window) ReadAt(dst []float32, offset int) error {
	clear(dst)
	from, to := max(offset, w.first), min(offset+len(dst), w.end())
	if from < to {
		copy(dst[from-offset:], w.samples[from-w.first:to-w.first])
	}
	return nil
}
