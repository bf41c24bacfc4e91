package permission

import (
	"leasehold/shared/access"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
)

// needs are the roles that reading a space needs, and putting a tuple into it, and taking one from it.
type needs struct{ read, put, take access.Roles }

// application are the needs of a space that belongs to no protocol.
var application = needs{access.Reader, access.Producer, access.Producer}

// internal are the needs of a space that clients have no use for.
var internal = needs{access.Manager | access.Admin, access.None, access.None}

// protocols has the needs of each space of the protocols. The protocols check the tuples that are put into task, and only
// procedures change the other spaces, except for results of tasks without a lease, which programs take.
var protocols = map[string]needs{
	task.Space:  {SeesTasks, access.Producer, access.Worker},
	task.Result: {SeesTasks, access.Worker, access.Producer | access.Manager},
	task.Dead:   {SeesTasks, access.None, access.None},

	task.Data:         internal,
	task.Alerts:       internal,
	task.Ends:         internal,
	lease.Space:       internal,
	batch.Space:       internal,
	idempotency.Space: internal,
	hold.Space:        internal,
	status.Records:    internal,

	status.Space:   {access.Any, access.None, access.None},
	status.Log:     {access.Any, access.None, access.None},
	visit.Space:    {access.Any, access.None, access.Manager},
	schedule.Space: {access.Any, access.None, access.None},
}

// IsProtocol reports whether a space belongs to a protocol.
func IsProtocol(name string) bool { _, is := protocols[name]; return is }
