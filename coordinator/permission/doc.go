// Package permission decides what an identity may do with the spaces: which procedures it may call, which spaces it
// may read and change, whatever door it comes through. The routes of the API have a table of their own, and ask this
// package only for the space that a request names.
//
// A request that calls another procedure (idempotency.call) needs what that one needs; a transaction needs what each
// of its operations needs. Conditions beside the role, such as that a session holds the task that it ends, are checked
// by the protocols.
package permission
