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

// chunkOf is a chunk of a type, with a right checksum; the log has a number, a manifest (0) none.
func chunkOf(kind byte, num uint32, payload string) []byte {
	data := append(binary.LittleEndian.AppendUint16(make([]byte, 4), uint16(len(payload))), kind)
	if num > 0 {
		data = binary.LittleEndian.AppendUint32(data, num)
	}
	data = append(data, payload...)
	binary.LittleEndian.PutUint32(data, checksum(data[6:]))
	return data
}

func TestARecordIsAFullChunkOrAFirstAnyMiddleOnesAndALast(t *testing.T) {
	t.Parallel()
	const full, first, middle, last = 0, 1, 2, 3
	for name, c := range map[string]struct {
		kinds         []int // of chunks with the payloads a, b, c and so on
		want          []string
		clean, behind bool
	}{
		"nothing":               {nil, nil, true, false},
		"full ones":             {[]int{full, full}, []string{"a", "b"}, true, false},
		"first, last":           {[]int{first, last, full}, []string{"ab", "c"}, true, false},
		"with middle ones":      {[]int{full, first, middle, middle, last}, []string{"a", "bcde"}, true, false},
		"last alone":            {[]int{full, last, full}, []string{"a"}, false, true},
		"middle alone":          {[]int{middle, last}, nil, false, false},
		"first at the end":      {[]int{full, first}, []string{"a"}, false, false},
		"middle at the end":     {[]int{first, middle}, nil, false, false},
		"first, then full":      {[]int{first, full}, nil, false, true},
		"first, then first":     {[]int{first, first, last}, nil, false, true},
		"middle, then full":     {[]int{first, middle, full}, nil, false, true},
		"a type before":         {[]int{full, -1, last}, []string{"a"}, false, false},
		"a type behind":         {[]int{full, types, last}, []string{"a"}, false, false},
		"a type behind, in one": {[]int{first, types, last}, nil, false, false},
	} {
		for kind, num := range map[byte]uint32{logFull: 7, manifestFull: 0} {
			var data []byte
			for i, k := range c.kinds {
				data = append(data, chunkOf(byte(int(kind)+k), num, string(rune('a'+i)))...)
			}
			s := log{data: data, num: num, full: kind}.scan()
			var got []string
			for _, r := range s.records {
				got = append(got, string(r.payload))
			}
			require.Equal(t, c.want, got, name)
			require.Equal(t, c.clean, s.clean, "%s: clean", name)
			require.Equal(t, c.behind, s.behind, "%s: a record behind", name)
		}
	}
}

func TestAChunkWithAnyByteChangedIsNotRead(t *testing.T) {
	t.Parallel()
	for kind, num := range map[byte]uint32{logFull: 7, manifestFull: 0} {
		data := append(chunkOf(kind, num, "one"), chunkOf(kind, num, "two")...)
		whole := log{data: data, num: num, full: kind}
		require.Len(t, whole.scan().records, 2)
		for n := range len(data) {
			changed := slices.Clone(data)
			changed[n] ^= 1
			require.Less(t, len(log{data: changed, num: num, full: kind}.scan().records), 2, "byte %d", n)
			require.Less(t, len(log{data: data[:n], num: num, full: kind}.scan().records), 2, "%d bytes", n)
		}
	}
	require.Empty(t, log{data: chunked(7, "one"), num: 8, full: logFull}.scan().records, "of another log")
}

// A block ends with zeros if too little of it is left for a chunk.
func TestARecordGoesOnBehindThePaddingOfItsBlock(t *testing.T) {
	t.Parallel()
	for left := range logHead + 3 {
		begin := chunkOf(logFull+1, 7, string(make([]byte, blockSize-logHead-left)))
		padded := append(append(begin, make([]byte, left)...), chunkOf(logFull+3, 7, "end")...)
		s := log{data: padded, num: 7, full: logFull}.scan()
		require.Equal(t, left < logHead, s.clean, left)
		if s.clean {
			require.Len(t, s.records, 1)
			require.Len(t, s.records[0].payload, blockSize-logHead-left+3)
			require.Equal(t, len(padded), s.end)
		}
		for n := range left {
			damaged := slices.Clone(padded)
			damaged[blockSize-left+n] = 1
			require.False(t, log{data: damaged, num: 7, full: logFull}.scan().clean, "byte %d of %d", n, left)
		}
	}
}

func TestALogThatIsACopyNamesTheOneThatItIsACopyOf(t *testing.T) {
	t.Parallel()
	data := chunked(7, "one")
	for num, want := range map[uint32]uint32{7: 0, 8: 7} {
		require.Equal(t, want, log{data: data, num: num, full: logFull}.original())
		require.Zero(t, log{data: data[:logHead-1], num: num, full: logFull}.original(), "too short")
		require.Zero(t, log{data: data[:len(data)-1], num: num, full: logFull}.original(), "cut")
	}
	require.EqualValues(t, 7, log{data: chunked(7, ""), num: 8, full: logFull}.original())
}
