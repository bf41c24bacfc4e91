package pebble

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// chunked is a log of one chunk for each payload.
func chunked(num uint32, payloads ...string) (data []byte) {
	for _, p := range payloads {
		at := len(data)
		data = binary.LittleEndian.AppendUint16(append(data, 0, 0, 0, 0), uint16(len(p)))
		data = append(binary.LittleEndian.AppendUint32(append(data, logFull), num), p...)
		binary.LittleEndian.PutUint32(data[at:], checksum(data[at+6:]))
	}
	return data
}

// FuzzScan checks that in any log the records lie one after the
// other up to the end, and that it reads the same when it is cut off there.
func FuzzScan(f *testing.F) {
	whole := chunked(7, "one", "two", "")
	f.Add(whole, uint32(7))
	f.Add(whole[:len(whole)-3], uint32(7))
	f.Add(append(slices.Clone(whole[:8]), whole...), uint32(7))
	f.Add(append(whole, make([]byte, blockSize)...), uint32(8))
	f.Fuzz(func(t *testing.T, data []byte, num uint32) {
		for _, full := range []byte{logFull, manifestFull} {
			s := log{data: data, num: num, full: full}.scan()
			at := 0
			for _, r := range s.records {
				require.LessOrEqual(t, at, r.at)
				require.Less(t, r.at, r.end)
				at = r.end
			}
			require.Equal(t, at, s.end)
			require.LessOrEqual(t, s.end, len(data))
			require.False(t, s.clean && s.behind)
			again := log{data: data[:s.end], num: num, full: full}.scan()
			require.Equal(t, s.records, again.records)
			require.True(t, again.clean)
		}
		_ = log{data: data, num: num, full: logFull}.original()
		stepOf(data)
	})
}

func TestAScanReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	s := log{data: chunked(7, "one", "two"), num: 7, full: logFull}.scan()
	require.True(t, s.clean)
	require.Len(t, s.records, 2)
	require.Equal(t, "two", string(s.records[1].payload))
}
