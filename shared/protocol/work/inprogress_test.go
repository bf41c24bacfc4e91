package work

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// pagesOf puts results with parts of these lengths, and returns the sizes of the pages in
// bytes and the subjects on each.
func pagesOf(t *testing.T, lengths ...int) (sizes []int, subjects [][]string) {
	t.Helper()
	p := Policy{Task: task.Policy{MaxAttempts: 1, Backoff: time.Second}, LeaseTTL: time.Hour, QueueTTL: time.Minute, Ingest: time.Minute}
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: p.Procedures()})
	require.NoError(t, err)
	repo, err := e.Session(t.Context(), "manager-1", 0)
	require.NoError(t, err)
	for _, defs := range [][]space.Definition{lease.Spaces(), task.Spaces()} {
		for _, d := range defs {
			require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
		}
	}
	for n, length := range lengths {
		r := task.ResultTuple{Action: "dig", Subject: fmt.Sprint("s", n), Part: strings.Repeat("p", length)}
		require.NoError(t, repo.Space(task.Result).Put(t.Context(), task.EncodeResult(r), 0))
	}
	for after := int64(0); ; {
		require.Less(t, len(sizes), len(lengths)+1, "a page has at least one entry")
		reply, err := repo.Call(t.Context(), space.OpID{}, procInProgress, tuple.New("dig", after))
		require.NoError(t, err)
		page, reserved, err := decodeInProgress(reply)
		require.NoError(t, err)
		sizes = append(sizes, len(page.data))
		var named []string
		for _, r := range reserved {
			named = append(named, r.Subject)
		}
		subjects = append(subjects, named)
		after = page.after
		if after == 0 {
			return sizes, subjects
		}
	}
}

func TestPagesOfWorkInProgressAreFilledToTheirBoundAndNotBeyond(t *testing.T) {
	t.Parallel()
	const part = 200_000
	one := len(encodeReserved(space.Entry{Tuple: task.EncodeResult(task.ResultTuple{Subject: "s0", Part: strings.Repeat("p", part)})}).Append(nil))
	rest := pageBytes - 3*one + part // the part with which three entries are as long as a page
	for name, c := range map[string]struct {
		lengths []int
		want    [][]string
	}{
		"nothing":               {nil, [][]string{nil}},
		"exactly one page":      {[]int{part, part, rest}, [][]string{{"s0", "s1", "s2"}}},
		"one byte more":         {[]int{part, part, rest + 1}, [][]string{{"s0", "s1"}, {"s2"}}},
		"one more than a page":  {[]int{part, part, rest, 1}, [][]string{{"s0", "s1", "s2"}, {"s3"}}},
		"an entry as a page":    {[]int{1, 900_000, 1}, [][]string{{"s0"}, {"s1"}, {"s2"}}},
		"many pages of a small": {[]int{part, part, part, part, part}, [][]string{{"s0", "s1"}, {"s2", "s3"}, {"s4"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sizes, subjects := pagesOf(t, c.lengths...)
			require.Equal(t, c.want, subjects)
			if name == "exactly one page" {
				require.Equal(t, pageBytes, sizes[0])
			}
		})
	}
}
