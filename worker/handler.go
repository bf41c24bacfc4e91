package worker

import (
	"context"

	"leasehold/models"
)

// A Handler does the tasks of one action. Handle is called by several
// goroutines at once, up to the worker's slots.
//
// Handle returns nil once it has resolved the job. An error gives the task back
// so that another worker may try (release); a fault of the input that the
// handler can name is not an error but a result that names it. When ctx ends
// (time-out, stale token, kill) Handle returns soon; the worker restarts itself
// if it does not.
type Handler interface {
	Handle(ctx context.Context, job Job) error
}

// Job is one claimed task, and what its handler may say of it.
type Job interface {
	Task() models.Task
	// Report puts a result that is not the last. Body is encoded as JSON. It
	// extends the time the task may take. fault.ErrStaleToken says that the task
	// is somebody else's now: stop.
	Report(ctx context.Context, part string, body any) error
	// Resolve puts the last result and ends the task.
	Resolve(ctx context.Context, part string, body any) error
	// Spend adds to what is known of the costs of the task's action, for people: c says
	// the rest. It may be called before the task ends, and its error left aside.
	Spend(ctx context.Context, c models.Cost) error
	// Draining is closed when the worker wants to stop: finish what is nearly
	// done, mark the last result final with Resolve, and return.
	Draining() <-chan struct{}
}
