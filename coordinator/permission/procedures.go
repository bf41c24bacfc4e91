package permission

import (
	"leasehold/shared/access"
)

// SeesTasks are the roles that see the data and the results of tasks.
const SeesTasks = access.Producer | access.Fleet

// Procedures has the roles that a caller needs for each procedure and reader of the coordinator, any one of them. Only
// the engine itself runs those with access.None.
var Procedures = map[string]access.Roles{
	// status
	"status.beat":  access.Producer | access.Fleet,
	"status.leave": access.Producer | access.Fleet,
	"status.spend": access.Producer | access.Fleet,
	"status.log":   access.Fleet,
	"status.clock": access.Producer | access.Fleet,
	"status.drain": access.Admin, // of others

	"status.remember": access.None, // the coordinator keeps it for workers over HTTP

	// lease, work, visit, batch: between the coordinator and managers
	"lease.grant":   access.Manager,
	"lease.extend":  access.Manager,
	"lease.revoke":  access.Manager,
	"lease.expire":  access.None,
	"work.issue":    access.Manager,
	"work.next":     access.Manager,
	"work.ingested": access.Manager,
	"work.busy":     access.Manager,
	"work.expire":   access.None,
	"work.drop":     access.None,
	"work.return":   access.None,
	"visit.take":    access.Manager,
	"visit.end":     access.Manager,
	"visit.room":    access.Manager,
	"visit.put":     access.None,
	"visit.lost":    access.None,
	"batch.put":     access.Manager,
	"batch.take":    access.Manager,
	"task.unstick":  access.Manager,

	// task: of workers
	"task.claim":       access.Worker,
	"task.next":        access.Worker,
	"task.get":         access.Worker,
	"task.extend":      access.Worker,
	"task.report":      access.Worker,
	"task.release":     access.Worker,
	"task.handback":    access.Worker,
	"interop.claim":    access.Worker,
	"interop.handback": access.Worker,
	"interop.report":   access.Worker,

	// task: of programs and people
	"task.create":      access.Producer,
	"task.cancel":      access.Producer,
	"task.wait":        access.Producer,
	"task.watch":       access.Producer,
	"task.show":        SeesTasks,
	"task.list":        SeesTasks,
	"task.ended":       SeesTasks,
	"task.listended":   SeesTasks,
	"task.showdead":    SeesTasks,
	"task.parents":     SeesTasks,
	"task.counts":      SeesTasks | access.Reader,
	"task.actions":     SeesTasks | access.Reader,
	"task.overview":    SeesTasks | access.Reader,
	"task.limits":      SeesTasks | access.Reader,
	"task.suspects":    SeesTasks,
	"task.requeue":     access.Admin,
	"task.discard":     access.Admin,
	"task.bulk":        access.Admin,
	"task.pause":       access.Admin,
	"task.resume":      access.Admin,
	"task.setlimit":    access.Admin,
	"task.removelimit": access.Admin,
	"schedule.set":     access.Admin,
	"schedule.change":  access.Admin,
	"schedule.remove":  access.Admin,

	// task: of the coordinator

	"task.sweep":         access.None,
	"task.timeout":       access.None,
	"task.return":        access.None,
	"task.expire":        access.None,
	"task.refill":        access.None,
	"task.removealert":   access.None,
	"task.removealerts":  access.None,
	"task.postponealert": access.None,
	"schedule.run":       access.None,
	"schedule.due":       access.None,
	"idempotency.forget": access.None,
	"idempotency.amend":  access.None,
	"hold.expire":        access.None,

	// any: the rest is decided by the procedure that is called, or by the space
	"idempotency.call":  access.Any,
	"browse.look":       access.Any,
	"interop.find":      access.Any,
	"interop.findall":   access.Any,
	"interop.done":      access.Producer,
	"interop.back":      access.Producer,
	"hold.take":         access.Producer,
	"hold.ack":          access.Producer,
	"hold.back":         access.Producer,
	"transaction.run":   access.Any,
	"transaction.apply": access.Any,
}
