package task

import (
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	procClaim    = "task.claim"
	procExtend   = "task.extend"
	procReport   = "task.report"
	procRelease  = "task.release"
	procHandBack = "task.handback"
	procUnstick  = "task.unstick"
	procTimeout  = "task.timeout"
	procReturn   = "task.return"
)

// Procedures returns the verbs as procedures: task.claim (action…), task.extend
// (id, token), task.report (id, result), task.release (id, token, reason),
// task.handback (id, token), task.unstick (action); and the expiries task.timeout
// (of a worker's hold) and task.return (of a back-off).
func (p Policy) Procedures() space.Procedures {
	return space.Procedures{
		procClaim:    p.claim,
		procExtend:   space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64), extend),
		procReport:   report,
		procRelease:  space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64, tuple.AnyString), p.release),
		procHandBack: space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64), handBack),
		procUnstick:  space.WithArgs(tuple.Match(tuple.AnyString), p.unstick),
		procTimeout:  p.timeout,
		procReturn:   p.comeBack,
	}
}

// Stop is the message that tells a worker to stop a task which is no longer its.
func Stop(id, reason string) tuple.Tuple { return tuple.New("stop", id, reason) }

// ParseStop returns the id and the reason of a message that Stop made.
func ParseStop(message tuple.Tuple) (id, reason string, ok bool) {
	if !tuple.Match("stop", tuple.AnyString, tuple.AnyString).Matches(message) {
		return "", "", false
	}
	return message.Str(1), message.Str(2), true
}
