package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
	"leasehold/shared/space/journal/journaltest"
)

// changesOf decodes a row.
func changesOf(row []byte) (all []change, err error) {
	err = eachChange(row, func(c change) { all = append(all, c) })
	return all, err
}

func TestTheChangesOfFactsAreDecoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var row []byte
		var puts []journal.Fact
		for _, f := range rapid.SliceOf(rapid.Custom(journaltest.DrawFact)).Draw(r, "facts") {
			row = appendFact(row, f)
			switch f.(type) {
			case journal.Gone, journal.Deleted, journal.Ended, journal.Forgotten, *journal.Historic:
			default:
				puts = append(puts, f)
			}
		}
		all, err := changesOf(row)
		require.NoError(r, err)
		var decoded []journal.Fact
		for _, c := range all {
			if c.kind == put {
				f, err := codec.Decode(c.key, c.value, nil)
				require.NoError(r, err)
				decoded = append(decoded, f)
			}
		}
		require.Equal(r, puts, decoded)
	})
}

func TestADamagedRowIsRefused(t *testing.T) {
	t.Parallel()
	row := appendFact(nil, journal.Token(7))
	for n := 1; n < len(row); n++ {
		_, err := changesOf(row[:n])
		require.ErrorIs(t, err, fault.ErrCorrupt, "%d bytes", n)
	}
	_, err := changesOf(append(row, '?'))
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

// FuzzRow decodes any bytes: accepted ones are encoded to the same bytes again.
func FuzzRow(f *testing.F) {
	row := appendFact(nil, journal.Token(7))
	row = appendFact(row, journal.Ended("a"))
	f.Add(row)
	f.Add(appendFact(row, &journal.Session{ID: "b"}))
	f.Add([]byte("+\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, row []byte) {
		all, err := changesOf(row)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			return
		}
		var again []byte
		for _, c := range all {
			again = appendChange(again, c)
		}
		require.Equal(t, string(row), string(again))
	})
}
