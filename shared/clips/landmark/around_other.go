//go:build !amd64

package landmark

// vector is false, because this processor has only around.fillPlain.
const vector = false

func aroundAVX(loudest, most, power *float32, maxima *uint8, floor float32) {}
