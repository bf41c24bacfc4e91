package conform

import (
	"errors"
	"slices"

	"leasehold/shared/space/trace"
)

// maxEnded is how many instances that have ended a check of a log that goes on remembers, because late events may
// belong to them.
const maxEnded = 10_000

// follower is what a Checker keeps of a log that goes on (Options.Deviates).
type follower struct {
	first     *Report     // of the first deviation; nil: none
	waits     bool        // for a reload, after a deviation
	ended     []*instance // the oldest first; some may have begun again
	forgotten int         // instances, also those that ended before the check began
}

// errTooManyTuples reports that a log that goes on has more tuples at once than a check may remember.
var errTooManyTuples = errors.New("the log has too many tuples at once")

// missedEvents is an error: a check that follows a log did not see all events.
type missedEvents struct{ why error }

func (m *missedEvents) Error() string { return "events are missing: " + m.why.Error() }

// goOnAfter reports the deviation that err is, or that the map does not know a procedure, and returns nil, if the check
// is to go on. Other errors are returned. While the check waits for a reload, it reports nothing.
func (c *Checker) goOnAfter(err error) error {
	if c.options.Deviates == nil || err == nil && len(c.unknown) == 0 {
		return err
	}
	if c.follower.waits {
		return nil
	}
	if err := c.setOutcome(err); err != nil {
		return err
	}
	c.options.Deviates(c.report)
	f := follower{first: c.follower.first, waits: true, forgotten: 1}
	if f.first == nil || f.first.Outcome != Violates && c.report.Outcome == Violates {
		f.first = c.report
	}
	c.resetForLog(c.report.Trace)
	c.follower = f
	if errors.Is(err, errTooManyStates) {
		return c.useModel(c.model, c.constants) // forgets the states
	}
	return nil
}

// resume ends the wait for a reload, which e is if there is one. If the log began before its first line, events may
// belong to instances that ended there.
func (f *follower) resume(c *Checker, line int, e trace.Event) {
	if line == 1 && e.Seq > 1 && c.options.Deviates != nil {
		f.forgotten = 1
	}
	if f.waits && c.options.Resumes != nil {
		c.options.Resumes(c.model.Program.File)
	}
	f.waits = false
}

// note remembers that an instance may have ended, and forgets the oldest of those if they are too many.
func (f *follower) note(c *Checker, in *instance) {
	if c.options.Deviates == nil || in.ended || !c.hasEnded(in) {
		return
	}
	in.ended = true
	f.ended = append(f.ended, in)
	if len(f.ended) <= maxEnded {
		return
	}
	oldest := f.ended[0]
	f.ended = slices.Delete(f.ended, 0, 1)
	oldest.ended = false
	if c.hasEnded(oldest) {
		c.forget(oldest)
		f.forgotten++
	}
}

// mayForget reports whether an event that no step explains may be a late one of an instance that was forgotten, and
// forgets the instance that was made for it.
func (f *follower) mayForget(c *Checker, in *instance) bool {
	if f.forgotten == 0 || len(in.last) > 0 {
		return false
	}
	c.forget(in)
	return true
}

// forget removes an instance.
func (c *Checker) forget(in *instance) {
	for _, name := range in.names {
		if c.named[name] == in { // after a reload it may be the name of another one
			delete(c.named, name)
		}
	}
	c.all = slices.DeleteFunc(c.all, func(other *instance) bool { return other == in })
}

// hasEnded reports whether the spaces that the map lists (forget) are empty in all states in which an instance may be.
func (c *Checker) hasEnded(in *instance) bool {
	if len(c.mapping.Forget) == 0 {
		return false
	}
	for _, x := range in.states {
		if x.midStep() || c.occupied(x, c.mapping.Forget) != "" {
			return false
		}
	}
	return true
}
