package interop

import (
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	procClaim    = "interop.claim"
	procHandBack = "interop.handback"
	procReport   = "interop.report"
)

// The procedures of package task that these call.
const (
	taskGet      = "task.get"
	taskHandBack = "task.handback"
	taskReport   = "task.report"
)

// claim (action, how) claims a task of an action, or of any action if it is empty, and returns the task's tuple;
// nothing if there is none. If how has waiting, it waits instead until a task is put. Other flags of how have no
// effect.
func claim(tx space.Tx, action string, how int64) (tuple.Tuple, error) {
	const waits = false // of task.get, because claim waits itself
	claimed, err := tx.Call(taskGet, space.TakeArgs(actionTemplate(action), waits))
	if err != nil || len(claimed) > 0 || how&waiting == 0 {
		return claimed, err
	}
	return nil, tx.Wait(space.Awaited{Space: task.Space, Template: actionTemplate(action)})
}

// actionTemplate matches the tasks of an action, or all if it is empty.
func actionTemplate(action string) tuple.Template {
	if action == "" {
		return task.Any()
	}
	return task.AnyOf(action)
}

// handBack (token) gives the task back that the caller holds with the token; that counts as no
// attempt. It does nothing if the caller holds no such task, because it may have timed out.
func handBack(tx space.Tx, token int64) (tuple.Tuple, error) {
	id, ok := task.HeldWith(tx, token)
	if !ok {
		return nil, nil
	}
	return tx.Call(taskHandBack, tuple.New(id, token))
}

// report (result) reports the result of the task that the caller holds with the result's
// token. If it holds none, the result is a late one: it is put, and changes no lease.
func report(tx space.Tx, result tuple.Tuple) (tuple.Tuple, error) {
	id, _ := task.HeldWith(tx, task.DecodeResult(result).Token) // "" makes it a late one
	return tx.Call(taskReport, tuple.New(id, result))
}
