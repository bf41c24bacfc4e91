package work

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/task"
)

// Loop is the loop of a manager for one action: it ingests results, and issues work-items
// while there is capacity. Results come before new work.
//
// One call of Client.Next is pending at any time and is not cancelled when another event arrives, because its answer
// may be a result held for this manager. Such an event makes the loop issue in addition. Ingest and Issue are called
// one at a time.
type Loop struct {
	Client Client
	Action string
	Look   time.Duration   // how often to issue, and to revive stuck tasks, when no event arrives; above 0
	Wake   <-chan struct{} // receives when there may be something new to issue; capacity 1
	More   bool            // whether there may be something to issue at the start
	// Ingest ingests a result held for this manager and ends its hold. It reports whether there may be more to issue.
	Ingest func(ctx context.Context, client Client, h *Held) (more bool, err error)
	// Issue issues work-items until there is no capacity or nothing is left. It reports
	// whether there may be more to issue. After an error that can pass (package retry), Run calls it again after
	// Look, and warns at the first of such errors.
	Issue func(ctx context.Context, client Client) (more bool, err error)
	Log   *slog.Logger // nil: slog.Default

	refused *bool // whether the last Issue was refused
}

// Run works until ctx ends, and returns nil then; or until a call or function fails, and
// returns that error. One call of Next is under way at a time, in a goroutine, because it blocks
// until there is a result or capacity; its answer is handled before the next call. No goroutine is
// left when Run returns.
func (l Loop) Run(ctx context.Context) error {
	l.refused = new(bool)
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	tick := time.NewTicker(l.Look)
	defer tick.Stop()
	answers := make(chan answer, 1)
	ask := func(wantsCapacity bool) {
		asking.Go(func() {
			step, err := l.Client.Next(ctx, l.Action, wantsCapacity)
			answers <- answer{step, err}
		})
	}
	ask(l.More)
	for {
		var more bool
		var err error
		select {
		case a := <-answers:
			if more, err = l.handleAnswer(ctx, a); err == nil {
				ask(more)
			}
		case <-l.Wake:
			_, err = l.issue(ctx)
		case <-tick.C:
			if err = (task.Client{Repo: l.Client.Repo}).ReviveStuck(ctx, l.Action); err == nil {
				_, err = l.issue(ctx)
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer is what Client.Next returned.
type answer struct {
	step Step
	err  error
}

// handleAnswer ingests the result of an answer, or issues work-items if it has none. more reports whether the next
// call of Next shall wait for capacity too.
func (l Loop) handleAnswer(ctx context.Context, a answer) (more bool, err error) {
	switch {
	case a.err != nil:
		return false, a.err
	case a.step.Result != nil:
		return l.Ingest(ctx, l.Client, a.step.Result)
	}
	return l.issue(ctx)
}

// issue calls Issue, and logs the first of several errors in a row that can pass: a full space would otherwise stop
// the action without a word.
func (l Loop) issue(ctx context.Context) (more bool, err error) {
	more, err = l.Issue(ctx, l.Client)
	log := cmp.Or(l.Log, slog.Default())
	switch {
	case retry.CanPass(err):
		if !*l.refused && ctx.Err() == nil {
			log.Warn("manager: new work is refused; it is tried again", "action", l.Action, "every", l.Look, "error", err)
		}
		*l.refused = true
		return false, nil
	case err == nil && *l.refused:
		log.Info("manager: new work is not refused any more", "action", l.Action)
		*l.refused = false
	}
	return more, err
}
