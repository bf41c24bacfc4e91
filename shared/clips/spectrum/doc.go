// Package spectrum turns blocks of real samples into spectra and back, in float32.
//
// FFT is a real-input transform of one power of two: 2^k reals to 2^(k-1)+1 complex
// bins and back. It is a complex Stockham transform of half the length, with passes
// of radix 4 that read one buffer and write the other in order, and one pass that
// unfolds the halves (Sorensen et al. 1987). A transform does not allocate. On amd64
// with AVX the passes process four values at a time (passes_amd64.s), which is five to
// six times as fast and gives the same bits.
//
// Frames cuts a stream into frames of 512 samples, one every 64 samples, applies a Hann
// window, and computes the power in each of the 256 bins below the Nyquist frequency. At
// 8 kHz that is a frame of 64 ms every 8 ms, with 15.6 Hz a bin.
//
// Transform is the interface of an FFT that the other audio packages use, so that the
// implementation can be replaced. The tests check FFT against gonum, and the benchmark
// compares both with go-dsp. Each value is for one goroutine.
package spectrum
