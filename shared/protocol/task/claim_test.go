package task_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

func TestAGetFromTheSpaceIsAClaim(t *testing.T) {
	withFixture(t, func(f fixture) {
		s := f.repo.Space(task.Space)
		got := make(chan tuple.Tuple, 1)
		go func() {
			u, err := s.Get(f.Context(), task.AnyOf("a"))
			require.NoError(f, err)
			got <- u
		}()
		synctest.Wait()
		f.make(models.TaskOptions{NotBefore: time.Now().Add(time.Minute)})
		i := f.make(models.TaskOptions{}, func(n *task.New) { n.Data = json.RawMessage(`{"n":1}`) })
		u := <-got
		require.Equal(f, `{"n":1}`, u.Str(6))
		f.is(i.ID, task.Claimed, "")
		_, ok, err := s.GetP(f.Context(), task.Any())
		require.NoError(f, err)
		require.False(f, ok)
		_, err = s.GetAll(f.Context(), task.Any())
		require.ErrorIs(f, err, fault.ErrInvalid)
		f.resolve(task.Item{Task: models.Task{ID: u.Str(2)}, Token: u.Int64(4)}, nil)
		f.ended(i.ID)
	})
}

func TestOfSeveralActionsTheFirstTaskByPriorityAndAgeIsClaimed(t *testing.T) {
	withFixture(t, func(f fixture) {
		with := func(action string, priority int64) func(*task.New) {
			return func(n *task.New) { n.Action, n.Priority = action, priority }
		}
		var want []string
		for _, n := range []func(*task.New){with("b", 5), with("a", 5), with("a", 1), with("b", 1), with("a", 1)} {
			want = append(want, f.make(models.TaskOptions{}, n).ID)
		}
		for n, actions := range [][]string{{"a", "b"}, {"a", "b"}, {"b", "a"}, {"a", "b"}, {"b", "a"}} {
			i, err := f.client.Claim(f.Context(), actions...)
			require.NoError(f, err)
			require.Equal(f, want[n], i.ID, n)
		}
	})
}

func TestTheClaimOfATaskTellsItsWorkerAndWhenItTimesOut(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.make(models.TaskOptions{})
		claims := func() (all []task.Claim) {
			found, err := f.repo.Space(lease.Space).QueryAll(f.Context(), task.AnyClaim())
			require.NoError(f, err)
			for _, t := range found {
				all = append(all, task.DecodeClaim(t))
			}
			return all
		}
		i := f.claims()
		want := task.Claim{Task: i.ID, Worker: "admin", Due: time.Now().Add(time.Minute).UTC(), Token: i.Token}
		require.Equal(f, []task.Claim{want}, claims())
		<-time.After(time.Second)
		require.NoError(f, f.client.Extend(f.Context(), i))
		want.Due = want.Due.Add(time.Second)
		require.Equal(f, []task.Claim{want}, claims())
		<-time.After(time.Second)
		require.NoError(f, f.client.Report(f.Context(), i, "p", false, 1))
		want.Due = want.Due.Add(time.Second)
		require.Equal(f, []task.Claim{want}, claims())
		require.NoError(f, f.client.HandBack(f.Context(), i))
		require.Empty(f, claims())
		require.ErrorIs(f, f.client.Report(f.Context(), i, "", true, make(chan int)), fault.ErrInvalid)
		f.claims()
		_, claimed, err := f.client.Next(f.Context(), nil, 0, "a")
		require.NoError(f, err)
		require.Empty(f, claimed)
		f.make(models.TaskOptions{})
		_, claimed, err = f.client.Next(f.Context(), nil, 0, "a")
		require.NoError(f, err)
		require.Empty(f, claimed, "none was wanted")
	})
}

func TestAResultThatIsTooLargeIsRefusedAlsoUnderALease(t *testing.T) {
	withFixture(t, func(f fixture) {
		f.call("lease-one")
		i := f.claims()
		large := strings.Repeat("x", 970<<10)
		require.ErrorIs(f, f.client.Report(f.Context(), i, "p", true, large), fault.ErrTooLarge)
		f.is(i.ID, task.Claimed, "")
		require.NoError(f, f.client.HandBack(f.Context(), i))
		require.ErrorIs(f, f.client.Report(f.Context(), i, "p", true, large), fault.ErrTooLarge, "a late one too")
		require.ErrorIs(f, f.client.Report(f.Context(), i, "p", true, 1), fault.ErrStaleToken)
		found, err := f.repo.Space(task.Result).QueryAll(f.Context(), task.AnyResult("a"))
		require.NoError(f, err)
		require.Len(f, found, 1, "what was found is true")
	})
}
