package journaltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// requireCopied copies a journal to another one, which is empty, and compares them.
func requireCopied(t require.TestingT, from, to journal.Journal) {
	require.NoError(t, journal.Copy(context.Background(), from, to))
	want, expected := load(t, from)
	got, found := load(t, to)
	require.Equal(t, want.Clock, got.Clock)
	require.Equal(t, want.Ref, got.Ref)
	require.Equal(t, texts(expected), texts(found))
	require.Equal(t, history(t, from, 0), history(t, to, 0))
}

// testCopied copies more than one commit has, and then copies into a journal that is in use.
func testCopied(t *testing.T, open func() journal.Journal) {
	from := &journal.Memory{}
	var facts []journal.Fact
	for n := range int64(2500) {
		facts = append(facts, &journal.Entry{Ref: n + 1, Space: "s", Place: n + 1, Tuple: tuple.New("t", n)},
			&journal.Historic{HistoryRecord: space.HistoryRecord{Seq: 3000 + n, Key: fmt.Sprint(n % 700), Value: string([]byte{byte(n), 0})}})
	}
	facts = append(facts, &journal.Space{Name: "s"}, &journal.Session{ID: "a", TTL: time.Minute}, journal.Token(9),
		&journal.Entry{Ref: 9000, Space: "s", Place: 9001, Tuple: tuple.New("gone")}, journal.Gone(9000))
	require.NoError(t, from.Commit(context.Background(), 0, []journal.Record{{Clock: time.Hour, Facts: facts}}))
	to := open()
	requireCopied(t, from, to)
	require.ErrorIs(t, journal.Copy(context.Background(), from, to), fault.ErrConflict)
	require.NoError(t, to.Close())
}
