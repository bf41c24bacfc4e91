package task

import (
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Takes returns the procedures that answer gets: a get from the space "task" is a claim.
func Takes() map[string]string { return map[string]string{Space: procGet} }

// get (template, whether it may wait) claims the first task that matches a template and that the caller may claim,
// and returns its tuple. It returns nothing if there is none and it may not wait, or if it moved tasks out of the
// way. The caller ends the task as any worker does; a task without a record has the default timeout.
func (p Policy) get(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	template, waits, err := space.ParseTake(args)
	if err != nil {
		return nil, err
	}
	next, err := p.nextFor(tx, func(e space.Entry) bool { return template.Matches(e.Tuple) }, func() (pick, error) {
		return p.firstMatch(tx, template)
	})
	switch {
	case err != nil:
		return nil, err
	case next.entry.Ref != 0:
		_, err := p.take(tx, next.entry, next.item, nil)
		return next.entry.Tuple, err
	case waits && !next.moved:
		return nil, tx.Wait(space.Awaited{Space: Space, Template: template})
	}
	return nil, nil
}
