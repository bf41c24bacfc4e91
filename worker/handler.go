package worker

import (
	"context"
	"iter"
	"time"

	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// A Handler does the tasks of one action. As many goroutines as the worker has slots may
// call Handle at once.
//
// Handle returns nil once it has resolved the job. If it returns an error, the worker
// releases the task, so that another worker may try. A fault of the input is not an
// error but a result that names the fault. When ctx ends (time-out, stale token, kill),
// Handle must return soon, or else the worker restarts itself.
type Handler interface {
	Handle(ctx context.Context, job Job) error
}

// Failure is an error of a handler that tells more than why the task is released.
type Failure struct {
	Err    error
	Output string        // the last lines that the attempt printed; those of Job.Log if empty
	GiveUp bool          // no worker could do the task: it is dead at once
	Unable bool          // this machine can do no task of the action: the attempt does not count, and the worker pauses
	Later  time.Duration // not 0: the attempt does not count, and the task is offered again after this time
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Problem is a body of a result that may name a fault of the input.
type Problem interface {
	// Fault returns why the input cannot be processed, or "" if it can.
	Fault() string
}

// Job is one claimed task, with the calls by which its handler reports on it.
//
// A task without a lease (task.Client.Create) was not selected by a manager, so none
// records the problem that a body names. Report and Resolve refuse such a body
// (fault.ErrInvalid) with its reason: so the worker releases the task, which becomes a
// dead letter with that reason after its last attempt.
type Job interface {
	Task() models.Task
	// Lease returns the task's lease and the token of this attempt, which prove to the
	// manager that issued the task that the caller holds it. The id is empty for a task
	// without a lease.
	Lease() (id string, token int64)
	// Parents returns how the tasks ended after which this one was created, in the order in
	// which it names them. Results that are too large together are left out, and marked so.
	Parents() []task.ParentResult
	// ReadParents is Parents with all results; it asks the coordinator if one is left out. It
	// ends after an error.
	ReadParents(ctx context.Context) iter.Seq2[task.ParentResult, error]
	// Report puts an intermediate result, with body as JSON, and restarts the task's timeout. fault.ErrStaleToken
	// means that the worker no longer holds the task and the handler must stop.
	Report(ctx context.Context, part string, body any) error
	// Resolve puts the last result and ends the task. In the same call the worker claims its
	// next task, so Handle should return soon.
	Resolve(ctx context.Context, part string, body any) error
	// PassOn gives the task to another worker, because this machine lacks what err names, such as a
	// file. It returns nil if it did, and the handler returns then. If no other worker is left, the
	// error is err with the workers and machines that lack it, and the handler still has the task.
	PassOn(ctx context.Context, err error) error
	// Note tells how far the task is, and restarts its timeout. Its error may be ignored,
	// because the context of a task that was taken away ends.
	Note(ctx context.Context, p models.Progress) error
	// Log notes a line. The last 2 KiB of them are the output of the attempt, which is kept if it fails, and with the end
	// of the task if Resolve ends it. It may be called by several goroutines.
	Log(line string)
	// Spend adds c to the costs of the task's action, which are for people. It may be
	// called before the task ends, and its error may be ignored.
	Spend(ctx context.Context, c models.Cost) error
	// Draining is closed when the worker drains: the handler should finish what is
	// nearly done, put the last result with Resolve, and return.
	Draining() <-chan struct{}
}
