package codec_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
	"leasehold/shared/space/journal/journaltest"
	"leasehold/shared/tuple"
)

func Example() {
	entry := &journal.Entry{Ref: 7, Space: "task", Tuple: tuple.New("a", int64(1))}
	key, value := codec.AppendKey(nil, entry), codec.AppendValue(nil, entry)
	f, err := codec.Decode(key, value, nil)
	fmt.Println(len(key), len(value), f.(*journal.Entry).Tuple, err)
	// Output: 9 16 ("a", 1) <nil>
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	t.Parallel()
	names := codec.Names{}
	rapid.Check(t, func(r *rapid.T) {
		f := journaltest.DrawFact(r)
		switch f.(type) {
		case journal.Gone, journal.Deleted, journal.Ended, journal.Forgotten:
			require.Empty(r, codec.AppendKey(nil, f), "what takes away has no encoding")
			return
		}
		key, value := codec.AppendKey(nil, f), codec.AppendValue(nil, f)
		decoded, err := codec.Decode(key, value, names)
		require.NoError(r, err)
		require.Equal(r, f, decoded)
		_, err = codec.Decode(key, append(value, 0), names)
		require.ErrorIs(r, err, fault.ErrCorrupt, "more than there should be")
	})
}

func TestAStepIsDecoded(t *testing.T) {
	t.Parallel()
	s := codec.Step{From: 5, Standing: journal.Standing{Position: 9, Clock: time.Hour, Ref: 12}}
	got, err := codec.DecodeStep(codec.AppendStep(nil, s))
	require.NoError(t, err)
	require.Equal(t, s, got)
	for n := range codec.AppendStep(nil, s) {
		_, err := codec.DecodeStep(codec.AppendStep(nil, s)[:n])
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
}

func TestTheKeysOfASessionsAnswersShareAPrefixOfTheirOwn(t *testing.T) {
	t.Parallel()
	ids := []string{"", "a", "aa", "\x01a", "b"}
	for _, of := range ids {
		prefix := codec.AppendAnswersKey(nil, of)
		for _, id := range ids {
			key := codec.AppendAnswerKey(nil, space.OpID{Session: id, Seq: 1})
			require.Equal(t, id == of, bytes.HasPrefix(key, prefix), "%q, %q", of, id)
		}
	}
}

// The bytes must stay, because journals have them.
func TestAnAnswerThatWasDroppedHasTheseBytes(t *testing.T) {
	t.Parallel()
	dropped := &journal.Answer{Op: space.OpID{Session: "x", Seq: 1}, Nth: 3, Reply: space.Reply{Found: true}, DroppedBytes: 700}
	written := []byte{3, 1, 1, 1, 7, 2, 0xf8, 0x0a}
	require.Equal(t, written, codec.AppendValue(nil, dropped))
	read, err := codec.Decode(codec.AppendKey(nil, dropped), written, nil)
	require.NoError(t, err)
	require.Equal(t, dropped, read)
}

// The bytes must stay, because journals have them.
func TestAnEntryWithoutAttributesHasTheseBytes(t *testing.T) {
	t.Parallel()
	held := &journal.Entry{Ref: 1, Place: 2, Space: "s", Tuple: tuple.New("a"), Hold: &journal.Hold{Session: "x"}}
	written := []byte{4, 1, 's', 0, 0, 0, 1, 1, 'x', 0, 0, 0}
	written = tuple.New("a").Append(written)
	require.Equal(t, written, codec.AppendValue(nil, held))
	read, err := codec.Decode(codec.AppendKey(nil, held), written, nil)
	require.NoError(t, err)
	require.Equal(t, held, read)
	written[6] = 4
	_, err = codec.Decode(codec.AppendKey(nil, held), written, nil)
	require.ErrorIs(t, err, fault.ErrCorrupt, "an unknown flag")
}

// Any bytes are decoded or fail with fault.ErrCorrupt, and encoding and decoding again yields the same.
func FuzzDecode(f *testing.F) {
	for _, fact := range []journal.Fact{
		&journal.Entry{Ref: 1, Space: "s", Tuple: tuple.New("a", nil), Hold: &journal.Hold{Session: "x", Op: 3}},
		&journal.Entry{Ref: 1, Space: "s", Tuple: tuple.New("a"), Attributes: &space.Attributes{Fields: "f", Labels: []string{"l"}, Turn: 3}},
		&journal.Space{Name: "s", Options: space.Options{Kind: space.Queue}}, &journal.Session{ID: "x", TTL: 3}, journal.Token(9),
		&journal.Answer{Op: space.OpID{Session: "x", Seq: 1}, Reply: space.Reply{Tuple: tuple.New(int64(1))}},
	} {
		f.Add(codec.AppendKey(nil, fact), codec.AppendValue(nil, fact))
	}
	record := &journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 1, Clock: 2, Key: "k", Value: "v"}, Count: 1, Bytes: 2}
	f.Add(codec.AppendKey(nil, record), codec.AppendValue(nil, record))
	f.Add(codec.AppendHistoryIndexKey(nil, "k", 1), []byte{})
	f.Add(codec.StandingKey(), codec.AppendStep(nil, codec.Step{}))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		fact, err := codec.Decode(key, value, nil)
		_, stepErr := codec.DecodeStep(value)
		for _, e := range []error{err, stepErr} {
			if e != nil {
				require.ErrorIs(t, e, fault.ErrCorrupt)
			}
		}
		if err == nil && fact != nil {
			k, v := codec.AppendKey(nil, fact), codec.AppendValue(nil, fact)
			again, err := codec.Decode(k, v, nil)
			require.NoError(t, err)
			require.Equal(t, k, codec.AppendKey(nil, again))
			require.Equal(t, v, codec.AppendValue(nil, again))
		}
	})
}
