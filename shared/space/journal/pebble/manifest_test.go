package pebble

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A record with a right checksum may still be of a later version of the store. A repair that took a
// part of a field for all of it would forget tables, or use ones that were replaced.
func TestARecordOfAManifestIsReadUpToTheFieldThatIsCutOrUnknown(t *testing.T) {
	t.Parallel()
	field := func(parts ...any) (data []byte) {
		for _, p := range parts {
			if text, ok := p.(string); ok {
				data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
			} else {
				data = binary.AppendUvarint(data, uint64(p.(int)))
			}
		}
		return data
	}
	table := func(num int, custom ...any) []byte {
		return field(append([]any{tagNewTable4, 6, num, 4096, "first", "last", 300, 7000}, custom...)...)
	}
	want := listedTable{size: 4096, smallest: 300, largest: 7000}
	fields := [][]byte{
		field(tagComparer, "a comparer"), field(tagLog, 1000), field(tagPrevLog, 0), field(tagNextFile, 1001), field(tagLastSeq, 7000),
		field(tagDeleted, 0, 200), table(500, customEnd), table(501, customUnsafe-1, "ignored", 2, "", customEnd), field(tagDeleted, 6, 201),
	}
	whole := slices.Concat(fields...)
	for n := range len(whole) + 1 {
		added, deleted, end := map[uint64]listedTable{}, map[uint64]bool{}, 0
		for i, f := range fields {
			if end+len(f) > n {
				break
			}
			switch end += len(f); i {
			case 5:
				deleted[200] = true
			case 6:
				added[500] = want
			case 7:
				added[501] = want
			case 8:
				deleted[201] = true
			}
		}
		e := edit{data: whole[:n]}
		e.read()
		require.Equal(t, n == end, e.err == nil, "%d of %d bytes: %v", n, len(whole), e.err)
		require.Equal(t, added, e.added, n)
		require.Equal(t, deleted, e.deleted, n)
	}
	for says, unknown := range map[string][]byte{
		"tag 5":               field(5, 1),
		"field 64 of a table": table(502, customUnsafe, "", customEnd),
		"a number":            append(field(tagLog), slices.Repeat([]byte{0xff}, 11)...),
		"the length":          field(tagComparer, 99),
	} {
		e := edit{data: append(append(slices.Clone(fields[6]), unknown...), fields[5]...)}
		e.read()
		require.ErrorContains(t, e.err, says)
		require.Equal(t, map[uint64]listedTable{500: want}, e.added, says)
		require.Empty(t, e.deleted, says)
	}
}
