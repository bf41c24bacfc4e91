package spectrum

import "golang.org/x/sys/cpu"

// vector reports whether the processor has AVX, so that a pass processes four complex64 at a
// time.
var vector = cpu.X86.HasAVX

// The passes of passes.go. quarter, stride and n must be multiples of four, and n of
// weightAVX and powersAVX one of eight. foldAVX and unfoldAVX process bins 1 to n and their mirrors.

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

//go:noescape
func weightAVX(dst, w, x *float32, n int)

//go:noescape
func powersAVX(dst *float32, z *complex64, n int)
