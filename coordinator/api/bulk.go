package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/task"
)

// maxBulk is how many tasks one request changes or refuses: about one second of work.
const maxBulk = 1000

// maxBulkCalls is how many calls of task.bulk one request makes. Each looks at up to 1000 tasks.
const maxBulkCalls = 50

// filterOf returns the filter in the parameters of a request. Only those who may see data may look for text in it.
func filterOf(ctx context.Context, q *request, state task.State) (task.Filter, error) {
	f := task.Filter{
		State: state, Action: q.text("action"), Tag: q.text("tag"), Group: q.text("group"), Text: q.text("text"), Data: q.text("data"),
		Older: time.Duration(q.number("older")) * time.Second, Younger: time.Duration(q.number("younger")) * time.Second,
		Before: q.time("before"),
	}
	return f, checkDataFilter(ctx, f)
}

func checkDataFilter(ctx context.Context, f task.Filter) error {
	if f.Data != "" && !seesTasks(ctx) {
		return fmt.Errorf("data: %w: %s may not see the data of tasks, and so not look for text in it", fault.ErrForbidden, access.Of(ctx))
	}
	return nil
}

// liveStates are the states in which a task can be counted or cancelled.
var liveStates = []task.State{task.Waiting, task.StateDelayed, task.StateBlocked, task.StatePaused, task.Claimed}

func (s *server) countTasks(ctx context.Context, q *request) (types.TaskCount, error) {
	state := task.State(q.text("state"))
	if countable := append(slices.Clone(liveStates), task.StateDead); state != "" && !slices.Contains(countable, state) {
		return types.TaskCount{}, fmt.Errorf("state %.50q: %w: want %s", string(state), fault.ErrInvalid, wording.Or(countable...))
	}
	answer := types.TaskCount{At: time.Now().UTC()}
	f, err := filterOf(ctx, q, state)
	if err != nil {
		return answer, err
	}
	answer.Count, err = s.countSelected(ctx, f, -1)
	return answer, err
}

// countSelected counts what a filter selects, and stops above most if that is not negative. Each transaction looks at a
// bounded number of tasks.
func (s *server) countSelected(ctx context.Context, f task.Filter, most int64) (n int64, err error) {
	var cursor task.Cursor
	for {
		part, err := s.tasks.Bulk(ctx, task.Bulk{Verb: task.BulkCount, Filter: f, Max: 1}, cursor)
		if err != nil {
			return 0, err
		}
		n, cursor = n+int64(part.Count), part.Next
		if len(cursor) == 0 || most >= 0 && n > most {
			return n, nil
		}
	}
}

// cancelSelected cancels what a filter selects, as the handlers of bulk do.
func (s *server) cancelSelected(ctx context.Context, q *request, n types.BulkCancel) (types.BulkResult, error) {
	return s.change(ctx, q, task.BulkCancel, task.State(n.State), n.Bulk)
}

// bulk returns the handler that changes the dead letters that a filter selects.
func (s *server) bulk(verb string) func(context.Context, *request, types.Bulk) (types.BulkResult, error) {
	return func(ctx context.Context, q *request, n types.Bulk) (types.BulkResult, error) {
		return s.change(ctx, q, verb, task.StateDead, n)
	}
}

// change changes the tasks of a state that a filter selects. One request changes up to maxBulk tasks, in transactions
// of up to task.MaxBulk. The next request changes the tasks that are left, and so does a request that is repeated.
func (s *server) change(ctx context.Context, q *request, verb string, state task.State, n types.Bulk) (types.BulkResult, error) {
	answer := types.BulkResult{Done: []string{}, Refused: []types.BulkError{}}
	f, err := bulkFilter(ctx, state, n)
	if err != nil {
		return answer, err
	}
	cursor, err := decodeCursor(n.Cursor)
	if err != nil {
		return answer, err
	}
	if n.Cursor == "" {
		now, err := s.countSelected(ctx, f, n.Count)
		if err != nil {
			return answer, err
		}
		if now > n.Count {
			return answer, fmt.Errorf("%w: more than the %d tasks that you saw are selected now; look at them again, or set before", fault.ErrConflict, n.Count)
		}
	}
	for range maxBulkCalls {
		left := min(maxBulk-len(answer.Done)-len(answer.Refused), task.MaxBulk)
		if left <= 0 {
			break
		}
		part, err := s.tasks.Bulk(ctx, task.Bulk{Verb: verb, Filter: f, Max: left, Reason: n.Reason}, cursor)
		if err != nil {
			return answer, err
		}
		answer.Done = append(answer.Done, part.Done...)
		for _, r := range part.Refused {
			s.refuseOrSelect(ctx, q, &answer, r)
		}
		cursor = part.Next
		if len(cursor) == 0 {
			break
		}
	}
	answer.Next = encodeCursor(cursor)
	return answer, nil
}

// refuseOrSelect adds a task that task.bulk did not change to an answer. A dead letter whose work a manager selects
// again is requeued now, because that changes the catalog too.
func (s *server) refuseOrSelect(ctx context.Context, q *request, answer *types.BulkResult, r task.Refused) {
	err := r.Err
	if r.Selectable {
		_, err = s.requeueOne(ctx, s.tasksOf(q), r.ID)
	}
	if err == nil {
		answer.Done = append(answer.Done, r.ID)
		return
	}
	answer.Refused = append(answer.Refused, types.BulkError{Task: r.ID, Code: fault.Of(err).Code, Detail: err.Error()})
}

// bulkFilter returns the filter in the body of a bulk, or fault.ErrInvalid.
func bulkFilter(ctx context.Context, state task.State, n types.Bulk) (task.Filter, error) {
	f := task.Filter{
		State: state, Action: n.Action, Tag: n.Tag, Group: n.Group, Text: n.Text, Data: n.Data,
		Older: time.Duration(n.Older) * time.Second, Younger: time.Duration(n.Younger) * time.Second, Before: n.Before,
	}
	switch {
	case n.Action != "" && !models.ValidID(n.Action):
		return f, fmt.Errorf("action %.64q: %w: %s", n.Action, fault.ErrInvalid, models.IDRule)
	case n.Count < 0:
		return f, fmt.Errorf("count %d: %w: want the number of tasks that you saw, 0 or more", n.Count, fault.ErrInvalid)
	case min(n.Older, n.Younger) < 0 || max(n.Older, n.Younger) > maxAgeSeconds:
		return f, fmt.Errorf("older %d, younger %d: %w: want 0 to %d seconds", n.Older, n.Younger, fault.ErrInvalid, maxAgeSeconds)
	case state != "" && state != task.StateDead && !slices.Contains(liveStates, state):
		return f, fmt.Errorf("state %.50q: %w: want %s", string(state), fault.ErrInvalid, wording.Or(liveStates...))
	}
	return f, checkDataFilter(ctx, f)
}
