package spectrum

import "math"

// The size and the spacing of frames.
const (
	Window = 512        // samples in a frame
	Hop    = 64         // samples from one frame to the next
	Bins   = Window / 2 // power values in a frame, from 0 Hz; the bin of the Nyquist frequency is left out
)

// Frames cuts a stream of samples into frames. Frame n consists of the Window samples
// from n*Hop on.
type Frames struct {
	fft      Transform
	hann     [Window]float32
	input    []float32 // still needed for later frames
	windowed []float32
	bins     []complex64
	power    []float32
}

// NewFrames returns Frames at the start of a stream. Products are rounded before they are added
// (float64()), so that the window is the same on each machine.
func NewFrames() *Frames {
	f := &Frames{
		fft: NewFFT(Window), windowed: make([]float32, Window),
		bins: make([]complex64, Bins+1), power: make([]float32, Bins),
	}
	for i := range f.hann {
		f.hann[i] = float32(.5 - float64(.5*math.Cos(2*math.Pi*float64(i)/Window)))
	}
	return f
}

// Push takes the next samples and does not retain the slice. It calls emit with the power of
// each frame that these samples complete: Bins values, valid until emit returns. A sine of
// amplitude A has power (A*Window/4)² in its bin.
func (f *Frames) Push(samples []float32, emit func(power []float32)) {
	f.input = append(f.input, samples...)
	at := 0
	for ; at+Window <= len(f.input); at += Hop {
		x := f.input[at:][:Window]
		weight(f.windowed, f.hann[:], x)
		f.fft.Forward(f.bins, f.windowed)
		powers(f.power, f.bins)
		emit(f.power)
	}
	f.input = f.input[:copy(f.input, f.input[at:])]
}

// Reset drops the buffered samples. Frames is then ready for a new stream.
func (f *Frames) Reset() { f.input = f.input[:0] }
