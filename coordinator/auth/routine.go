package auth

import (
	"context"
	"fmt"
	"time"

	"leasehold/coordinator/admission"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

const (
	// routineSpan is the time in which routine of one kind is one record, and another one with the number of the rest.
	routineSpan = time.Minute
	// maxRoutine bounds the kinds of routine that are counted at a time.
	maxRoutine = 1_000
)

// kind is what routine of one record has in common.
type kind struct{ identity, action, outcome string }

// counted is routine of one kind within routineSpan.
type counted struct {
	begun  time.Time
	more   int              // after the first, which has its own record
	latest admission.Record // of those
}

// NoteRoutine is Note for what programs do often, such as creating tasks, and for requests that are refused: within a
// minute, the first of an identity with an action and an outcome is a record, and the others are counted in one more. So a
// program that creates a thousand tasks in a second does not push changes by people out of the audit.
func (a *Auth) NoteRoutine(ctx context.Context, i access.Identity, address, action, object string, err error) {
	r := a.record(i, address, action, object, err)
	k := kind{i.ID, action, "done"}
	if err != nil {
		k.outcome = fault.Of(err).Code
	}
	a.mu.Lock()
	c := a.routine[k]
	if c != nil && r.At.Sub(c.begun) < routineSpan {
		c.more, c.latest = c.more+1, r
		a.mu.Unlock()
		return
	}
	over := a.takeRoutine(r.At, len(a.routine) >= maxRoutine)
	a.routine[k] = &counted{begun: r.At}
	a.mu.Unlock()
	for _, summary := range append(over, r) {
		a.queue(ctx, summary)
	}
}

// takeRoutine removes the routine whose time is over, or all, and returns the records of the counts. The caller
// holds a.mu.
func (a *Auth) takeRoutine(now time.Time, all bool) (over []admission.Record) {
	for k, c := range a.routine {
		if !all && now.Sub(c.begun) < routineSpan {
			continue
		}
		delete(a.routine, k)
		if c.more > 0 {
			r := c.latest
			r.Object = fmt.Sprintf("%s (the last of %d more within a minute)", r.Object, c.more)
			over = append(over, r)
		}
	}
	return over
}

// writeRoutine writes the records of the routine whose time is over, or of all.
func (a *Auth) writeRoutine(ctx context.Context, all bool) {
	a.mu.Lock()
	over := a.takeRoutine(a.Now(), all)
	a.mu.Unlock()
	if len(over) > 0 {
		a.write(ctx, over...)
	}
}
