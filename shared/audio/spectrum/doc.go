// Package spectrum turns blocks of real samples into spectra and back, in float32.
//
// FFT is a real-input transform of one power of two: 2^k reals to 2^(k-1)+1 complex
// bins and back. It is a complex transform of half the length, Stockham's, with
// passes of radix 4 that read one buffer and write the other in order, and one pass
// that unfolds the halves (Sorensen et al. 1987). It allocates nothing. On amd64 with AVX
// the passes do four values at a time (passes_amd64.s), five to six times as fast, and give the
// same bits.
//
// Frames cuts a stream into windows of 512 samples, one each 64, under a Hann window,
// and gives the power in each of the 256 bins below the Nyquist frequency: at 8 kHz,
// 64 ms each 8 ms, 15.6 Hz a bin.
//
// Transform is what the rest of audio needs of an FFT, so that another may take its
// place; the tests hold ours against gonum's, and the benchmark compares both with
// go-dsp's. Values are for one goroutine each.
package spectrum
