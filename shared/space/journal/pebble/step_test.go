package pebble

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/journal/codec"
)

// A record with a right checksum may still be of another program, or cut: it is not of a journal, and
// reading it must not panic.
func TestARecordThatIsNotOfAJournalIsToldFromOneThatIs(t *testing.T) {
	t.Parallel()
	want := codec.Step{From: 300}
	want.Position = 310
	step := codec.AppendStep(nil, want)
	record := func(length []byte) []byte {
		begin := append(make([]byte, 12), 1, 1)
		return append(append(append(begin, codec.StandingKey()...), length...), step...)
	}
	whole := record(binary.AppendUvarint(nil, uint64(len(step))))
	got, ok := stepOf(append(whole, "more"...))
	require.True(t, ok)
	require.Equal(t, want, got)
	for n := range whole {
		_, ok := stepOf(whole[:n])
		require.False(t, ok, "%d of %d bytes", n, len(whole))
	}
	for _, length := range [][]byte{{}, {0}, binary.AppendUvarint(nil, uint64(len(step))+1), binary.AppendUvarint(nil, 1<<63), bytes.Repeat([]byte{0xff}, 12)} {
		_, ok := stepOf(record(length))
		require.False(t, ok, "a length of % x", length)
	}
}
