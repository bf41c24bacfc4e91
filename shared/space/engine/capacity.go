package engine

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// Estimates of memory in bytes, of heap and stacks. TestEstimatesOfMemory compares them
// with what the heap grows by.
const (
	entryCost        = 300  // of an entry, its places in maps and in the order of its bucket
	fieldCost        = 24   // of a field, beside its encoded size
	indexedBytes     = 60   // of an entry in one hash index
	attributesCost   = 80   // of an entry's attributes, beside the fields and the labels
	labelCost        = 100  // of an entry's label, beside its bytes
	bucketCost       = 600  // of a signature in use
	timerCost        = 200  // of a TTL or a deadline of a hold
	holdCost         = 200  // of a hold, and its places at the session
	answerCost       = 400  // of an answer, without the tuples of its reply
	spaceCost        = 2000 // of an empty space
	sessionCost      = 2000 // of a session
	waiterCost       = 1500 // of a blocked call
	waiterStack      = 8192 // of the goroutine that waits
	subscriptionCost = 500  // of a subscription
	eventCost        = 120  // of an event that waits for a subscriber
	messageCost      = 250  // of a message in an inbox
	pendingCopies    = 2    // of a tuple while it is committed: encoded, and in the journal's buffers
)

// tupleCost estimates the memory that a tuple takes.
func tupleCost(t tuple.Tuple) int64 { return int64(t.Size() + fieldCost*len(t)) }

// cost estimates the memory that an entry takes, without hash indexes; 0 if no budget counts it.
// What is added for an entry must be subtracted with the same number, so an entry that changes
// is subtracted first. The caller holds state.mu.
func (st *state) cost(x *entry) int64 {
	if st.contents.Budget == nil {
		return 0
	}
	n := entryCost + tupleCost(x.Tuple)
	if a := x.Attributes; a != nil {
		n += attributesCost + int64(len(a.Fields))
		for _, l := range a.Labels {
			n += labelCost + int64(len(l))
		}
	}
	if x.Hold != nil {
		n += holdCost
	}
	if dueAt(x) != 0 {
		n += timerCost
	}
	return n
}

// class returns the class of memory that a session may use: the fleet's class has the reserve too.
func (s *session) class() memory.Class {
	if s.fleet {
		return memory.Draining
	}
	return memory.Growth
}

// reserveWaiter reserves the memory of a waiter, which finishWait gives back. It refuses if too many calls wait or
// memory is used up. Calls of the fleet have a reserve of both. The caller holds state.mu.
func (e *Engine) reserveWaiter(s *session, r space.Request) error {
	limit := maxWaiters - fleetWaiters
	if s.fleet {
		limit = maxWaiters
	}
	if e.state.waiting >= limit {
		return fmt.Errorf("%w: %d calls are already waiting, the maximum", fault.ErrOverloaded, e.state.waiting)
	}
	return e.state.memory.Reserve(sizeOfWaiter(r), s.class())
}

// sizeOfWaiter estimates the memory that a blocked call takes.
func sizeOfWaiter(r space.Request) int64 {
	return waiterCost + waiterStack + tupleCost(r.Tuple) + tupleCost(r.Args) + 2*tupleCost(tuple.Tuple(r.Template))
}

var errDiskFull = fmt.Errorf("%w: only operations that take or end something are accepted", journal.ErrFull)

// errShare is why a space that has the most of the memory gets no more of the last part of it.
var errShare = fmt.Errorf("%w: the space has more than is left for all", memory.ErrFull)

// checkCapacity returns why a transaction must be refused, which try then undoes: errDiskFull while the journal is
// full, memory.ErrFull while the memory budget is used up; errors.Is finds fault.ErrOverloaded in both. It refuses a
// transaction that puts tuples and takes, holds, gives back or ends none. So a claim and the result of a task that it
// resolves go on, because they free space in the end; work is not created. Expiries and ends of sessions are never
// checked.
//
// When nine tenths of the memory for such transactions are used, a space that has more than is left gets no more, so
// that one that a client fills leaves memory for the others. A space with several shares (space.Definition.ShareBy) is
// left to its protocol, because one share must not have the others refused.
//
// For the disk, only spaces that are not volatile count. For memory, a tuple that goes with its session does not
// count as a put, because it tells the session's status and creates no work. A put of the fleet's own work
// (space.PutOptions.Reserve) may use half of the reserve. Any other transaction may use the
// reserve, and is refused if it makes memory grow when the reserve is used up too. Events that wait for subscribers
// are forgotten before anything is refused.
func (tx *transaction) checkCapacity() error {
	if tx.st.events > 0 && tx.st.memory.Budget.Check(memory.Growth) != nil {
		tx.st.forgetAllEvents()
	}
	left, nearlyFull := tx.st.memory.Budget.Left()
	if !nearlyFull && !tx.e.journalFull() { // as nearly always
		return nil
	}
	sum := tx.sumSteps()
	if sum.putsOnDisk && !sum.drainsDisk && tx.e.journalFull() {
		return errDiskFull
	}
	switch {
	case sum.memory <= 0: // as always without a budget
		return nil
	case sum.reserve && !sum.drains:
		return tx.st.memory.Budget.Check(memory.Reserved)
	case sum.puts && !sum.drains && sum.largest > left:
		return errShare
	case sum.puts && !sum.drains:
		return tx.st.memory.Budget.Check(memory.Growth)
	}
	return tx.st.memory.Budget.Check(memory.Draining)
}

// stepSum is what the steps of a transaction do together. An ephemeral tuple is not in puts,
// but in putsOnDisk; a volatile space is in neither of the two for the disk.
type stepSum struct {
	memory                 int64 // bytes by which the entries grow
	puts, drains           bool  // a tuple is put; one is taken, held, given back or ended
	putsOnDisk, drainsDisk bool
	reserve                bool  // a put may use the reserve
	largest                int64 // bytes of the largest space, of one share, into which a tuple is put
}

// sumSteps sums up the steps of the transaction for checkCapacity.
func (tx *transaction) sumSteps() (sum stepSum) {
	for _, s := range tx.steps {
		onDisk := !tx.st.spaces[s.space()].def.Options.Volatile
		if s.old != nil {
			sum.memory -= tx.st.cost(s.old)
		}
		if s.new != nil {
			sum.memory += tx.st.cost(s.new)
		}
		switch s.change {
		case space.Put:
			sum.reserve = sum.reserve || s.reserve
			if in := tx.st.spaces[s.space()]; s.new.Owner == "" && in.shareBy == 0 {
				sum.largest = max(sum.largest, in.bytes)
			}
			sum.puts = sum.puts || s.new.Owner == ""
			sum.putsOnDisk = sum.putsOnDisk || onDisk
		case space.Take, space.Hold, space.Back, space.Done:
			sum.drains = true
			sum.drainsDisk = sum.drainsDisk || onDisk
		}
	}
	return sum
}

// pendingSize estimates the memory that facts take until they are committed, without the tuples and answers
// themselves.
func pendingSize(facts []journal.Fact) (size int64) {
	for _, f := range facts {
		switch f := f.(type) {
		case *journal.Entry:
			size += entryCost + pendingCopies*int64(f.Tuple.Size())
			if f.Attributes != nil {
				size += int64(len(f.Attributes.Fields))
			}
		case *journal.Historic:
			size += entryCost + (1+pendingCopies)*f.Size()
		case *journal.Answer:
			size += answerCost + pendingCopies*int64(replySize(f.Reply))
		default:
			size += entryCost
		}
	}
	return size
}
