package spectrum

import "golang.org/x/sys/cpu"

// vector: the processor has AVX, by which the passes do four complex64 at a time.
var vector = cpu.X86.HasAVX

// The passes of passes.go, of multiples of four: quarter, stride and n. Those of fold and
// unfold do bins 1 to n and their mirrors.

//go:noescape
func firstPassAVX(out, in, w *complex64, quarter int)

//go:noescape
func radix4AVX(out, in, w *complex64, quarter, stride int)

//go:noescape
func lastPassAVX(out, in *complex64, stride int)

//go:noescape
func unfoldAVX(dst, z, w *complex64, half, n int)

//go:noescape
func foldAVX(a, x, w *complex64, half, n int)

//go:noescape
func conjugateAVX(dst, src *complex64, n int)

//go:noescape
func multiplyAVX(dst, a, b *complex64, n int)

//go:noescape
func packAVX(dst *complex64, x *float32, n int)

//go:noescape
func unpackAVX(dst *float32, z *complex64, n int)
