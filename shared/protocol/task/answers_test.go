package task

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func concat(all ...tuple.Tuple) (data []byte) {
	for _, t := range all {
		data = t.Append(data)
	}
	return data
}

func TestClaimedTasksAreDecodedWithTheirParentsAndDamagedOnesAreCorrupt(t *testing.T) {
	t.Parallel()
	item := func(id string) Item { return Item{Token: 4, Task: models.Task{Action: "a", ID: id, Timeout: 60}} }
	parent := func(id string) ParentResult {
		return ParentResult{ID: id, State: Resolved, Result: "1", LeftOut: id == "p2"}
	}
	head := func(id string, parents int64) tuple.Tuple { return tuple.New(encodeRecord(item(id)), parents) }
	all, err := decodeItems(concat(head("t1", 2), plainTuple(item("t1")), parent("p1").encode(), parent("p2").encode(), head("t2", 0), plainTuple(item("t2")),
		head("t3", 1), plainTuple(item("t3")), parent("p3").encode()))
	require.NoError(t, err)
	require.Equal(t, []ClaimedTask{{item("t1"), []ParentResult{parent("p1"), parent("p2")}}, {Item: item("t2")}, {item("t3"), []ParentResult{parent("p3")}}}, all)
	for name, bad := range map[string][]byte{
		"no tuple":          {9},
		"no task":           concat(head("t1", 0)),
		"a damaged record":  concat(tuple.New("\xff", int64(0)), plainTuple(item("t1"))),
		"a parent too few":  concat(head("t1", 2), plainTuple(item("t1")), parent("p1").encode()),
		"more than a task":  append(concat(head("t1", 0), plainTuple(item("t1"))), 9),
		"no task but bytes": append(concat(head("t1", 0)), 9),
	} {
		_, err := decodeItems(bad)
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
		_, err = onlyItem(tuple.New(bad))
		require.ErrorIs(t, err, fault.ErrCorrupt, name)
	}
}

func TestTheAnswerOfNextTellsWhatBecameOfEachOutcome(t *testing.T) {
	t.Parallel()
	made := Item{Task: models.Task{ID: "t9", Action: "a", Timeout: 60}}
	answers := concat(encodeEnded(nil, tuple.New(true)), encodeEnded(fault.ErrStaleToken, nil), encodeEnded(nil, tuple.New(true, encodeItems([]Item{made}))))
	ends, claimed, err := decodeNext(tuple.New(answers, []byte("x")), 3)
	require.NoError(t, err)
	require.Equal(t, []byte("x"), claimed)
	require.Equal(t, Ended{}, ends[0])
	require.ErrorIs(t, ends[1].Err, fault.ErrStaleToken)
	require.EqualError(t, ends[1].Err, fault.ErrStaleToken.Error())
	require.NoError(t, ends[2].Err)
	require.Equal(t, "t9", ends[2].Created[0].ID)
	ends, claimed, err = decodeNext(WithoutClaims(tuple.New(answers, []byte("x"))), 3)
	require.NoError(t, err)
	require.Len(t, ends, 3)
	require.Empty(t, claimed)
	for _, bad := range []tuple.Tuple{nil, tuple.New([]byte{9}), tuple.New(answers[:len(answers)-1]), tuple.New(append(slices.Clone(answers), 9))} {
		ends, _, err = decodeNext(bad, 3)
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.Empty(t, ends, "the caller must not take them for the answers")
	}
	for _, outcomes := range []int{0, 2, 4} {
		_, _, err = decodeNext(tuple.New(answers), outcomes)
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
}

func TestPagesAreDecodedWithTheirCursorAndDamagedOnesAreCorrupt(t *testing.T) {
	t.Parallel()
	i := Item{Task: models.Task{Action: "a", ID: "t1", Timeout: 60}}
	next := tuple.New(int64(1), int64(2))
	one := concat(tuple.New("w1", encodeRecord(i), "code", "text"), plainTuple(i))
	all, cursor, err := decodePage(tuple.New(append(slices.Clone(one), one...), next))
	require.NoError(t, err)
	want := Listed{Item: i, Holder: "w1", Why: Why{"code", "text"}}
	require.Equal(t, []Listed{want, want}, all)
	require.Equal(t, Cursor(next), cursor)
	all, cursor, err = decodePage(tuple.New(one))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Empty(t, cursor)
	all, _, err = decodePage(tuple.New(concat(tuple.New("", "\xff", "", ""), plainTuple(i))))
	require.NoError(t, err)
	require.ErrorIs(t, all[0].Err, fault.ErrCorrupt, "the others of the page can be read")
	require.Equal(t, "t1", all[0].ID)
	for _, bad := range [][]byte{{9}, concat(tuple.New("w1", encodeRecord(i))), append(slices.Clone(one), 9), one[:len(one)-1]} {
		_, _, err := decodePage(tuple.New(bad, next))
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}

	e := space.Entry{}
	e.Tuple, e.Attributes = tupleOf(i)
	ended := encodeEnd(e, time.Unix(5, 6), ending{state: Cancelled, note: "n"})
	all, cursor, err = decodeEndsPage(tuple.New(concat(tuple.New(ended), tuple.New(ended)), next))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, &End{State: Cancelled, At: time.Unix(5, 6).UTC(), Note: "n"}, all[1].End)
	require.Equal(t, Cursor(next), cursor)
	for _, bad := range [][]byte{{9}, concat(tuple.New([]byte("x"))), concat(tuple.New(ended[:9])), append(concat(tuple.New(ended)), 9)} {
		_, _, err := decodeEndsPage(tuple.New(bad, next))
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
}

func TestAnEndOfAnotherFormIsCorrupt(t *testing.T) {
	t.Parallel()
	i := Item{Task: models.Task{Action: "a", ID: "t1", Timeout: 60, CurrentClaimant: "w1"}}
	e := space.Entry{}
	e.Tuple, e.Attributes = tupleOf(i)
	at := time.Unix(5, 6).UTC()
	l, err := decodeEnd(string(encodeEnd(e, at, ending{Resolved, "n", "1"})))
	require.NoError(t, err)
	require.Equal(t, &End{Resolved, at, "w1", "n", "1"}, l.End)
	require.Equal(t, "t1", l.ID)
	e.Tuple, e.Attributes = DeadLetter{Item: i, Reason: "why"}.tupleOf()
	l, err = decodeEnd(string(encodeEnd(e, at, ending{state: StateDead})))
	require.NoError(t, err)
	require.True(t, l.Dead)
	require.Equal(t, "why", l.Reason)
	e.Fields = "\xff"
	l, err = decodeEnd(string(encodeEnd(e, at, ending{state: StateDead})))
	require.NoError(t, err, "lists show it")
	require.ErrorIs(t, l.Err, fault.ErrCorrupt)
	e.Tuple = tuple.New("other")
	for _, bad := range []string{"", "x", string(concat(tuple.New("end"))), string(encodeEnd(e, at, ending{state: Resolved}))} {
		_, err := decodeEnd(bad)
		require.ErrorIs(t, err, fault.ErrCorrupt, "%q", bad)
	}
}

func TestOneRequestCarriesTasksUpToTheSizeOfAnAnswer(t *testing.T) {
	t.Parallel()
	of := func(data int) []New {
		half := maxAnswer / 2
		return []New{
			{Task: models.Task{Action: "a", Timeout: 60, Subject: strings.Repeat("s", half)}},
			{Task: models.Task{Action: "a", Timeout: 60, Subject: strings.Repeat("s", data)}},
		}
	}
	data, err := encodeNews(of(maxAnswer / 3))
	require.NoError(t, err)
	most := maxAnswer/3 + maxAnswer - len(data)
	data, err = encodeNews(of(most))
	require.NoError(t, err)
	require.Len(t, data, maxAnswer)
	_, err = encodeNews(of(most + 1))
	require.ErrorIs(t, err, fault.ErrTooLarge)
	_, err = encodeNews([]New{{Task: models.Task{Data: []byte("{")}}})
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestTimesWithinTenYearsAreAcceptedAndAnExpiryOnlyAfterTheStart(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	in := now.Add
	for name, c := range map[string]struct {
		o    models.TaskOptions
		says string // empty: accepted
	}{
		"no times":             {},
		"now":                  {o: models.TaskOptions{NotBefore: now}},
		"almost ten years":     {o: models.TaskOptions{NotBefore: in(MaxDelay - time.Hour), ExpiresAt: in(MaxDelay - time.Minute)}},
		"almost ten years ago": {o: models.TaskOptions{NotBefore: in(time.Minute - MaxDelay)}},
		"ten years":            {models.TaskOptions{NotBefore: in(MaxDelay)}, "not_before"},
		"ten years ago":        {models.TaskOptions{NotBefore: in(-MaxDelay)}, "not_before"},
		"expiry in ten years":  {models.TaskOptions{ExpiresAt: in(MaxDelay)}, "expires_at"},
		"expiry at the start":  {models.TaskOptions{NotBefore: in(time.Hour), ExpiresAt: in(time.Hour)}, "after not_before"},
		"expiry before it":     {models.TaskOptions{NotBefore: in(time.Hour), ExpiresAt: in(time.Minute)}, "after not_before"},
		"expiry behind it":     {o: models.TaskOptions{NotBefore: in(time.Hour), ExpiresAt: in(time.Hour + 1)}},
	} {
		err := checkTimes(c.o, now)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, fault.ErrConflict, name)
		require.ErrorContains(t, err, c.says, name)
	}
}
