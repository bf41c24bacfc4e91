package landmark

import "golang.org/x/sys/cpu"

// vector reports whether the processor has AVX, so that eight bins are compared at a time.
var vector = cpu.X86.HasAVX

// aroundAVX is around.fillPlain.
//
//go:noescape
func aroundAVX(loudest, most, power *float32, maxima *uint8, floor float32)
