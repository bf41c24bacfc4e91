package task

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// fullItem is a task with all fields that a record has.
func fullItem() Item {
	at := time.Date(2026, 11, 22, 1, 2, 3, 4, time.UTC)
	return Item{
		Hidden: Limited, HiddenBy: "db", Pending: []string{"t8"}, Behind: true, RetryAt: at, DiedAt: at, queued: true, Existing: true, Priority: -7,
		Task: models.Task{
			Subject: "s", Parts: []string{"p", "q"}, Timeout: 60, QueueTTL: 1.5, Claimants: []string{"w1", "w2"}, Hosts: []string{"h"},
			CurrentClaimant: "w3", Attempts: 2, State: "waits", CreatedAt: at, ClaimedAt: at,
			History:  []models.Attempt{{Worker: "w1", ClaimedAt: at, EndedAt: at, Error: "disk full", Output: "line\nline"}, {Worker: "w2"}},
			Progress: &models.Progress{Fraction: 0.5, Text: "half"},
			TaskOptions: models.TaskOptions{
				NotBefore: at, ExpiresAt: at, MaxAttempts: 3, Backoff: 4, UniqueKey: "k", Group: "g", Tags: []string{"a", "b"},
				ResultTuple: true, ResultTTL: 5, After: []string{"t1"}, OnFailure: models.RunAnyway, Limits: []string{"db"}, OnLimit: models.Drop,
				Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			},
		},
	}
}

func TestARecordKeepsEachField(t *testing.T) {
	t.Parallel()
	var got Item
	require.NoError(t, decodeRecord(encodeRecord(fullItem()), &got))
	require.Equal(t, fullItem(), got)
}

func TestARecordThatIsCutWithinAFieldIsCorrupt(t *testing.T) {
	t.Parallel()
	whole := encodeRecord(fullItem())
	for _, cut := range []string{whole[:len(whole)-1], whole[:2], "\x01\x01\x05four", "\x01\xff"} {
		var i Item
		require.ErrorIs(t, decodeRecord(cut, &i), fault.ErrCorrupt, "%q", cut)
	}
}

func TestAFieldWithAValueOfAnotherFormIsCorruptAndAnUnknownFieldIsSkipped(t *testing.T) {
	t.Parallel()
	record := func(tag uint64, v string) string {
		w := recordWriter{recordVersion}
		w.bytes(tag, v)
		w.text(tagSubject, "s")
		return string(w)
	}
	attempt := func(tag uint64, v string) string { return record(tag, v)[1:] }
	const notNumber, cutNumber, longNumber = "", "\x80", "\x02\x02"
	numbers := []uint64{tagAttempts, tagCreatedAt, tagClaimedAt, tagNotBefore, tagExpiresAt, tagMaxAttempts, tagRetryAt, tagPriority, tagDiedAt}
	bad := []string{"", "\x02", "\x00\x01\x01s", record(tagProgress, "seven b"), record(tagAttempt, "\x01\x09"), record(tagAttempt, "\xff")}
	for _, tag := range numbers {
		bad = append(bad, record(tag, notNumber), record(tag, cutNumber), record(tag, longNumber))
	}
	for _, tag := range []uint64{tagTimeout, tagQueueTTL, tagBackoff, tagResultTTL} {
		bad = append(bad, record(tag, "seven b"), record(tag, "nine byte"), record(tag, ""))
	}
	for _, tag := range []uint64{tagBegan, tagEnded} {
		bad = append(bad, record(tagAttempt, attempt(tag, notNumber)), record(tagAttempt, attempt(tag, longNumber)))
	}
	for _, r := range bad {
		var i Item
		require.ErrorIs(t, decodeRecord(r, &i), fault.ErrCorrupt, "%q", r)
	}
	for r, want := range map[string]Item{
		record(99, "x"):             {Task: models.Task{Subject: "s"}}, // of a later version
		record(tagAttempts, "\x02"): {Task: models.Task{Subject: "s", Attempts: 1}},
		record(tagProgress, "\x00\x00\x00\x00\x00\x00\x00\x00"): {Task: models.Task{Subject: "s", Progress: &models.Progress{}}},
		record(tagAttempt, attempt(99, "x")):                    {Task: models.Task{Subject: "s", History: []models.Attempt{{Worker: "s"}}}},
	} {
		var i Item
		require.NoError(t, decodeRecord(r, &i), "%q", r)
		require.Equal(t, want, i)
	}
	for _, r := range []string{"\x02" + record(tagClaimant, "w1")[1:], "", record(tagHost, "w1")} {
		require.False(t, gaveBack(r, "w1"), "%q", r)
	}
}

func TestNumbersOfARecordHaveUpToTenBytes(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][2]uint64{
		"": {0, 0}, "\x80": {0, 0}, "\x00": {0, 1}, "\x7f": {127, 1}, "\x80\x01": {128, 2}, "\xff\x7fx": {16383, 2},
		strings.Repeat("\x80", 9) + "\x01":  {1 << 63, 10},
		strings.Repeat("\x80", 10) + "\x01": {0, 0},
	} {
		v, n := uvarint(s)
		require.Equal(t, want, [2]uint64{v, uint64(n)}, "%q", s)
	}
}

// FuzzRecord: the decoder of records never panics, reads each record that it wrote, and finds
// the claimants that gaveBack finds.
func FuzzRecord(f *testing.F) {
	f.Add(encodeRecord(Item{}), "w1")
	f.Add(encodeRecord(fullItem()), "w2")
	f.Add(encodeRecord(fullItem())[:40], "")
	f.Add("\x01\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "w")
	f.Fuzz(func(t *testing.T, record, worker string) {
		var i Item
		gave := gaveBack(record, worker)
		if decodeRecord(record, &i) != nil {
			return
		}
		if gave {
			require.Contains(t, i.Claimants, worker)
		}
		again := encodeRecord(i)
		var second Item
		require.NoError(t, decodeRecord(again, &second))
		require.Equal(t, again, encodeRecord(second))
	})
}

// FuzzFramesOfTasks: the decoders of arguments, answers and ends of tasks return errors, and
// never panic.
func FuzzFramesOfTasks(f *testing.F) {
	item := fullItem()
	item.Action, item.ID = "a", "t9"
	e := space.Entry{}
	e.Tuple, e.Attributes = tupleOf(item)
	news, err := encodeNews([]New{{Task: models.Task{Action: "a", Timeout: 60}, Ended: []ParentResult{{ID: "t1", State: Resolved, Result: "1"}}}})
	require.NoError(f, err)
	f.Add(news)
	f.Add(encodeItems([]Item{item, item}))
	f.Add(encodeEnd(e, item.CreatedAt, ending{state: Resolved, note: "n", result: "1"}))
	f.Add(tuple.New("x").Append(nil))
	f.Add(tuple.New("", int64(0)).Append(nil))
	f.Add(ToHandBack(item, 0).encode().Append(nil))
	f.Add(encodeEnded(fault.ErrStaleToken, nil).Append(nil))
	f.Add(encodeEnded(nil, tuple.New(true, encodeItems([]Item{item}))).Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = parseNext(tuple.New(data, int64(1), "a"))
		_, _, _ = decodeNext(tuple.New(data, data), 1)
		if all, err := decodeNews(data); err == nil {
			_, err := encodeNews(all)
			_ = err // it may be too large, or have invalid data
		}
		_, _ = decodeItems(data)
		_, _ = decodeEnd(string(data))
		if reply, _, err := tuple.Decode(data); err == nil {
			_, _, _ = decodePage(reply)
			_, _, _ = decodeEndsPage(reply)
			_, _ = decodeShown(reply), decodeLimitState(reply)
			_, _ = DecodeDeadLetter(shownEntry(reply))
			_, _ = itemsOf(createdOf(reply))
		}
		_, _, _ = decodePage(tuple.New(data, tuple.Tuple{}))
		_, _, _ = decodeEndsPage(tuple.New(data, tuple.Tuple{}))
	})
}
