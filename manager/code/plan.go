package code

import (
	"slices"
	"sync"

	"leasehold/models"
	"leasehold/shared/code"
)

// Bounds of one batch.
const (
	batchBytes = 8 << 20
	batchFiles = 2000
)

// plan is a batch to issue, or one already issued.
type plan struct {
	id      string
	origin  models.Origin
	entries []entry
	bytes   int64 // to be read
	tries   int   // how often workers could not read it; used by the job only
}

// splitBatches puts entries into batches within the bounds, in their order. A skipped file has no size; a file
// larger than the bound is a batch alone. The id of a batch is made from its files, so equal entries give batches
// with equal ids.
func splitBatches(o models.Origin, entries []entry) []*plan {
	var plans []*plan
	var last *plan
	for _, e := range entries {
		n := e.size
		if e.skip != "" {
			n = 0
		}
		if last == nil || last.bytes+n > batchBytes || len(last.entries) == batchFiles {
			last = &plan{origin: o}
			plans = append(plans, last)
		}
		last.entries = append(last.entries, e)
		last.bytes += n
	}
	for _, p := range plans {
		parts := []string{o.ID}
		for _, e := range p.entries {
			parts = append(parts, string(e.oid))
		}
		p.id = models.NewID(parts...)
	}
	return plans
}

// oids returns the object ids of a batch, in its order.
func (p *plan) oids() []code.OID {
	ids := make([]code.OID, len(p.entries))
	for i, e := range p.entries {
		ids[i] = e.oid
	}
	return ids
}

// has reports whether a file of the batch has this content.
func (p *plan) has(id code.OID) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool { return e.oid == id })
}

// queue is the batches that wait to be issued.
type queue struct {
	wake chan struct{} // has an element after a push

	mu    sync.Mutex // guards plans
	plans []*plan
}

// push adds a batch as the last one, and wakes the loop that issues batches.
func (q *queue) push(p *plan) {
	q.mu.Lock()
	q.plans = append(q.plans, p)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default: // the loop was woken and has not begun
	}
}

// first returns the batch that waits for the longest time; nil if there is none.
func (q *queue) first() *plan {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.plans) == 0 {
		return nil
	}
	return q.plans[0]
}

// remove removes a batch; it does nothing if the batch does not wait.
func (q *queue) remove(p *plan) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.plans = slices.DeleteFunc(q.plans, func(other *plan) bool { return other == p })
}

// has reports whether a batch waits to be issued.
func (q *queue) has(p *plan) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.plans, p)
}
