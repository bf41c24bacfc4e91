package match_test

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/warp"
)

// integers is noise made of integers alone, low-passed, so that it is the same on every
// processor.
func integers(seed uint32, n int) []float32 {
	x, state, last := make([]float32, n), seed, int32(0)
	for i := range x {
		state = state*1664525 + 1013904223
		last = (7*last + int32(state>>18)) / 8
		x[i] = float32(last-8192) / 32768
	}
	return x
}

// TestEveryProcessorFindsTheSame compares landmarks and findings, to the last bit, with those of
// amd64. On amd64 it fails if a change of the search changes the findings: if that was intended,
// put the new sums here.
func TestEveryProcessorFindsTheSame(t *testing.T) {
	t.Parallel()
	clips := [][]float32{integers(1, second*7/10), integers(2, 3*second), integers(3, 6*second), square()}
	e := integers(9, 60*second)
	for i := range e {
		e[i] *= .3
	}
	mix(e, clips[0], 5*second, 1)
	mix(e, warp.Play(clips[1], 13), 12*second, 1)
	mix(e, clips[2][:3*second], 20*second, -1)
	mix(e, clips[3], 30*second, 1)
	var marks, bits []byte
	for _, l := range landmark.Of(e) {
		marks = binary.LittleEndian.AppendUint64(marks, uint64(l.Hash)<<32|uint64(l.Frame))
	}
	found := find(t, indexed(t, clips...), e, match.Options{})
	require.Len(t, found, 4)
	for _, f := range found {
		for _, v := range []float64{float64(f.Offset), float64(f.Length), f.Score, f.Coverage, f.Speed} {
			bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(v))
		}
	}
	require.Equal(t, []uint32{0x4447cfa5, 0xfe88d757}, []uint32{crc32.ChecksumIEEE(marks), crc32.ChecksumIEEE(bits)}, "%+v", found)
}

// square is a square wave of 1 kHz that lasts 0.3 s, which is searched by plain correlation.
func square() []float32 {
	x := make([]float32, second*3/10)
	for i := range x {
		x[i] = .3
		if i/4%2 == 1 {
			x[i] = -.3
		}
	}
	return x
}
