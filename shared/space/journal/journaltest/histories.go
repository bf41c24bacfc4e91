package journaltest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// testHistories commits random records to a new journal and to the memory
// driver, and compares what they hold, also after the journal was opened again.
func testHistories(t *testing.T, newStore func(t testing.TB) (open func() journal.Journal)) {
	rapid.Check(t, func(r *rapid.T) {
		open := newStore(t)
		j, model := open(), &journal.Memory{}
		position, seq := journal.Position(0), int64(0)
		r.Repeat(map[string]func(*rapid.T){
			"commit": func(r *rapid.T) {
				records := rapid.SliceOfN(rapid.Custom(drawRecord), 1, 4).Draw(r, "records")
				for _, record := range records {
					for _, f := range record.Facts {
						if h, ok := f.(*journal.Historic); ok {
							seq++
							h.Seq, h.Clock, h.Count, h.Bytes = seq, time.Duration(seq), 0, 0
						}
					}
				}
				require.NoError(r, model.Commit(context.Background(), position, records))
				require.NoError(r, j.Commit(context.Background(), position, records))
				position += journal.Position(len(records))
			},
			"trim": func(r *rapid.T) {
				before := time.Duration(rapid.Int64Range(0, seq).Draw(r, "before"))
				l := space.HistoryLimits{Number: rapid.Int64Range(0, 9).Draw(r, "number"), Bytes: rapid.Int64Range(0, 50).Draw(r, "bytes")}
				want, err := model.TrimHistory(context.Background(), before, l)
				require.NoError(r, err)
				got, err := j.TrimHistory(context.Background(), before, l)
				require.NoError(r, err)
				require.Equal(r, want, got)
			},
			"reopen": func(r *rapid.T) {
				if rapid.IntRange(0, 9).Draw(r, "now") > 0 {
					r.Skip("seldom, since it is slow")
				}
				require.NoError(r, j.Close())
				j = open()
			},
			"": func(r *rapid.T) { compare(r, model, j) },
		})
		requireCopied(r, j, &journal.Memory{})
		require.NoError(r, j.Close())
	})
}

// compare requires that j stands where model stands, and holds the same facts and history. Facts
// come in any order.
func compare(r *rapid.T, model, j journal.Journal) {
	want, expected := load(r, model)
	got, found := load(r, j)
	require.Equal(r, want, got)
	require.Equal(r, texts(expected), texts(found))
	records := history(r, model, 0)
	require.Equal(r, records, history(r, j, 0))
	for _, h := range records {
		latest, ok, err := j.LatestHistory(context.Background(), h.Key)
		require.NoError(r, err)
		require.True(r, ok)
		expected, _, _ := model.LatestHistory(context.Background(), h.Key)
		require.Equal(r, expected, latest)
	}
}

// history returns the records before a position, the latest first.
func history(t require.TestingT, j space.History, before int64) (all []space.HistoryRecord) {
	require.NoError(t, j.HistoryBefore(context.Background(), before, func(h space.HistoryRecord) bool {
		all = append(all, h)
		return true
	}))
	return all
}

// texts counts facts by their text, which makes them comparable in any order. What a pointer
// refers to is part of the text, instead of the pointer.
func texts(facts []journal.Fact) map[string]int {
	all := map[string]int{}
	for _, f := range known(facts) {
		text := fmt.Sprintf("%#v", f)
		if e, ok := f.(*journal.Entry); ok {
			shown := *e
			shown.Hold, shown.Attributes = nil, nil
			text = fmt.Sprintf("%#v", shown)
			if e.Hold != nil {
				text += fmt.Sprintf(" held %#v", *e.Hold)
			}
			if e.Attributes != nil {
				text += fmt.Sprintf(" with %#v", *e.Attributes)
			}
		}
		all[text]++
	}
	return all
}

// drawRecord draws a record of up to 6 facts.
func drawRecord(r *rapid.T) journal.Record {
	return journal.Record{
		Clock: time.Duration(rapid.Int64Min(0).Draw(r, "clock")),
		Facts: rapid.SliceOfN(rapid.Custom(DrawFact), 1, 6).Draw(r, "facts"),
	}
}

// DrawFact draws a fact of any kind, about one of a few things.
func DrawFact(r *rapid.T) journal.Fact {
	session := rapid.SampledFrom([]string{"a", "b", "aa"})
	seq := rapid.Uint64Range(1, 4)
	op := func() space.OpID { return space.OpID{Session: session.Draw(r, "session"), Seq: seq.Draw(r, "seq")} }
	switch rapid.IntRange(0, 10).Draw(r, "kind") {
	case 0:
		return &journal.Space{Name: rapid.SampledFrom([]string{"s", "t"}).Draw(r, "space"), Options: drawOptions(r)}
	case 1:
		key := rapid.SampledFrom([][]byte{nil, make([]byte, sha256.Size), bytes.Repeat([]byte{7}, sha256.Size)}).Draw(r, "key")
		return &journal.Session{ID: session.Draw(r, "session"), TTL: time.Duration(rapid.Int64().Draw(r, "ttl")), Key: key}
	case 2:
		return journal.Ended(session.Draw(r, "session"))
	case 3:
		return &journal.Answer{Op: op(), Nth: rapid.Uint64().Draw(r, "nth"), Reply: drawReply(r), DroppedBytes: rapid.IntRange(0, 1<<30).Draw(r, "dropped")}
	case 4:
		return journal.Forgotten(op())
	case 5:
		return journal.Token(rapid.Int64Min(1).Draw(r, "token"))
	case 6:
		return journal.Gone(rapid.Int64Range(1, 6).Draw(r, "ref"))
	case 8:
		text := rapid.StringN(0, 4, 8)
		return &journal.Historic{Count: rapid.Int64().Draw(r, "count"), Bytes: rapid.Int64().Draw(r, "bytes"), HistoryRecord: space.HistoryRecord{
			Seq: rapid.Int64Range(1, 6).Draw(r, "seq"), Clock: time.Duration(rapid.Int64().Draw(r, "made")), Key: text.Draw(r, "key"), Value: text.Draw(r, "value"),
		}}
	case 7:
		return journal.Deleted(rapid.SampledFrom([]string{"s", "t"}).Draw(r, "space"))
	}
	return drawEntry(r)
}

// drawEntry draws an entry with one of few refs, so that entries replace each other.
func drawEntry(r *rapid.T) *journal.Entry {
	text := rapid.StringN(0, 8, 16)
	e := &journal.Entry{
		Ref: rapid.Int64Range(1, 6).Draw(r, "ref"), Place: rapid.Int64().Draw(r, "place"), Space: text.Draw(r, "space"), Tuple: drawTuple(r),
		Deadline: time.Duration(rapid.Int64().Draw(r, "deadline")), Expiry: text.Draw(r, "expiry"), Owner: text.Draw(r, "owner"),
	}
	if rapid.Bool().Draw(r, "attributed") {
		e.Attributes = &space.Attributes{Fields: text.Draw(r, "fields"), Turn: rapid.Int64().Draw(r, "turn")}
		if n := rapid.IntRange(0, 3).Draw(r, "labels"); n > 0 {
			e.Attributes.Labels = rapid.SliceOfN(text, n, n).Draw(r, "label")
		}
	}
	if rapid.Bool().Draw(r, "held") {
		e.Hold = &journal.Hold{
			Session: text.Draw(r, "holder"), Due: time.Duration(rapid.Int64().Draw(r, "due")),
			Expiry: text.Draw(r, "hold expiry"), Op: rapid.Uint64().Draw(r, "op"),
		}
	}
	return e
}

// drawOptions draws options, also ones that no engine accepts, because a journal does not check
// them.
func drawOptions(r *rapid.T) space.Options {
	return space.Options{
		Kind: rapid.SampledFrom(space.Kinds).Draw(r, "kind"), OrderBy: rapid.IntRange(0, 63).Draw(r, "order"),
		Capacity: rapid.Int().Draw(r, "capacity"), Overflow: space.DropOldest, Volatile: rapid.Bool().Draw(r, "volatile"),
	}
}

// drawReply draws a reply with a tuple, or one that found nothing.
func drawReply(r *rapid.T) space.Reply {
	reply := space.Reply{Found: rapid.Bool().Draw(r, "found"), Count: rapid.IntRange(0, 1<<30).Draw(r, "count")}
	if reply.Found {
		reply.Tuple = drawTuple(r)
	}
	return reply
}

// drawTuple draws one of a few tuples: empty, of most types, nested, large.
func drawTuple(r *rapid.T) tuple.Tuple {
	return rapid.SampledFrom([]tuple.Tuple{
		tuple.New(), tuple.New("task", int64(7), 2.5), tuple.New(nil, true, []byte("blob"), tuple.New("nested")), tuple.New(string(make([]byte, 5000))),
	}).Draw(r, "tuple")
}
