//go:build !amd64

package spectrum

// vector is false, because this processor has only the passes of passes.go.
const vector = false

func firstPassAVX(out, in, w *complex64, quarter int)      {}
func radix4AVX(out, in, w *complex64, quarter, stride int) {}
func lastPassAVX(out, in *complex64, stride int)           {}
func unfoldAVX(dst, z, w *complex64, half, n int)          {}
func foldAVX(a, x, w *complex64, half, n int)              {}
func conjugateAVX(dst, src *complex64, n int)              {}
func multiplyAVX(dst, a, b *complex64, n int)              {}
func packAVX(dst *complex64, x *float32, n int)            {}
func unpackAVX(dst *float32, z *complex64, n int)          {}
func weightAVX(dst, w, x *float32, n int)                  {}
func powersAVX(dst *float32, z *complex64, n int)          {}
