// Package memory keeps a process within a budget of bytes.
//
// The engine, the gate and the API keep data that clients send. They add an estimate of its
// size to one Budget, and subtract it when they free it. While the budget is used up,
// requests that only make memory grow are refused, and a reserve lets requests through that
// free memory in the end, such as a claim of a task. A nil Budget has no limit.
//
// The estimates are of heap and stacks. The process needs memory beside them, so the
// budget should be at most half of the memory that the process may take: see Default.
package memory

import (
	"fmt"
	"sync/atomic"

	"leasehold/shared/fault"
)

// ErrFull means that the budget is used up. It is a fault.ErrOverloaded.
var ErrFull = fmt.Errorf("the memory budget is used up: %w: only operations that take or end something are accepted", fault.ErrOverloaded)

// Class is the purpose of memory.
type Class int

// The classes.
const (
	Growth   Class = iota // may use the budget less a quarter
	Reserved              // may use the budget less an eighth: work of the fleet itself
	Draining              // may use all of it, because it frees memory in the end
)

// Budget is a number of bytes that may be used. Its methods may be called concurrently.
type Budget struct {
	limit    int64
	used     atomic.Int64
	residue  atomic.Int64 // the part of used that Residue accounts have added
	draining atomic.Int64 // limit of class Draining, see Rebase
}

// New returns a budget of limit bytes; 0 means unlimited.
func New(limit int64) *Budget {
	if limit == 0 {
		return nil
	}
	b := &Budget{limit: limit}
	b.draining.Store(limit)
	return b
}

// Add adds n bytes, which may be negative, without regard to the limit.
func (b *Budget) Add(n int64) {
	if b != nil {
		b.used.Add(n)
	}
}

// Reserve adds n bytes, or returns ErrFull and adds nothing if they do not fit.
func (b *Budget) Reserve(n int64, c Class) error {
	if b == nil {
		return nil
	}
	if b.used.Add(n)-b.exempt(c) > b.limitOf(c) {
		b.used.Add(-n)
		return ErrFull
	}
	return nil
}

// Check returns ErrFull if more than the limit of a class is used.
func (b *Budget) Check(c Class) error {
	if b != nil && b.used.Load()-b.exempt(c) > b.limitOf(c) {
		return ErrFull
	}
	return nil
}

// Full reports whether class Growth has used nearly all that it may use. It is for health
// checks: single requests may still fit.
func (b *Budget) Full() bool {
	return b != nil && b.used.Load()-b.exempt(Growth) > b.limitOf(Growth)/16*15
}

// Left returns how many bytes class Growth may still use if it has used nine tenths of its limit; ok is false if it
// has used less, or there is no limit.
func (b *Budget) Left() (left int64, ok bool) {
	if b == nil {
		return 0, false
	}
	limit := b.limitOf(Growth)
	left = max(0, limit-(b.used.Load()-b.exempt(Growth)))
	return left, left < limit/10
}

// exempt returns how many of the used bytes do not count for a class: for Growth, the
// residue, up to half of the reserve for Draining. Otherwise a client that takes a small tuple
// for each one that it wants to put would free nothing, because the answers to its takes are
// kept and are about as large.
func (b *Budget) exempt(c Class) int64 {
	if c == Growth {
		return min(b.residue.Load(), b.limit/8)
	}
	return 0
}

// limitOf returns how many bytes may be used while a call of a class is still served. Growth leaves
// the last quarter to the others.
func (b *Budget) limitOf(c Class) int64 {
	switch c {
	case Growth:
		return b.limit - b.limit/4
	case Reserved:
		return b.draining.Load() - b.limit/8
	}
	return b.draining.Load()
}

// Rebase sets the limit of class Draining so that it may use a quarter of the budget beyond the current use. An
// engine calls it when it has loaded a folder that may be larger than the budget, because otherwise nothing could be
// claimed from it.
func (b *Budget) Rebase() {
	if b != nil {
		b.draining.Store(max(b.limit, b.used.Load()+b.limit/4))
	}
}

// Used returns how many bytes are used.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// Limit returns the budget; 0 means unlimited.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit
}

// Account is what one part of a process has added to a Budget. It must not be used
// concurrently.
type Account struct {
	Budget *Budget
	// Residue means that the bytes are what each operation leaves behind for a while, also one that frees memory,
	// such as the answer kept for a repetition.
	Residue bool
	used    int64
}

// Add adds n bytes, which may be negative.
func (a *Account) Add(n int64) {
	a.used += n
	a.Budget.Add(n)
	a.addResidue(n)
}

func (a *Account) addResidue(n int64) {
	if a.Residue && a.Budget != nil {
		a.Budget.residue.Add(n)
	}
}

// Reserve is Budget.Reserve.
func (a *Account) Reserve(n int64, c Class) error {
	err := a.Budget.Reserve(n, c)
	if err == nil {
		a.used += n
		a.addResidue(n)
	}
	return err
}

// Close subtracts all that was added. The account can be used again.
func (a *Account) Close() { a.Add(-a.used) }
