// Package members is the list of the coordinators that serve one realm in turn: their addresses, and the one that
// served last. A client shares one list between all its connections, so that what one of them learns serves the others.
package members

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"leasehold/shared/fault"
)

// List is the addresses of the members of a realm, host:port. It may be used concurrently.
type List struct {
	mu  sync.Mutex // guards all
	all []string   // the one to try first is the first
}

// New returns a list of addresses, which are tried in that order at first. There must be at least one.
func New(addresses ...string) *List { return &List{all: slices.Clone(addresses)} }

// Parse is New for addresses in a text, with commas between them.
func Parse(addresses string) *List { return New(strings.Split(addresses, ",")...) }

// Order returns all addresses, the one to try first at the beginning.
func (l *List) Order() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// First returns the address to try first: that of the member that served last, as far as is known.
func (l *List) First() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[0]
}

// Serves notes that the member at an address serves.
func (l *List) Serves(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.all, address); at > 0 {
		l.all = append(slices.Clone(l.all[at:]), l.all[:at]...)
	}
}

// Failed notes that the member at an address does not serve now: the next one is tried first. It changes nothing if
// another call has noted that already.
func (l *List) Failed(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[0] == address {
		l.all = append(slices.Clone(l.all[1:]), address)
	}
}

// String returns the addresses in the order in which they are tried, with commas between them.
func (l *List) String() string { return strings.Join(l.Order(), ",") }

// Unreached returns the error for a realm that was at none of its addresses; errs has one for each. If one of them may
// answer later (fault.ErrUnavailable), it is of that kind alone, because another program at a second address ends nothing.
func Unreached(errs []error) error {
	at := slices.IndexFunc(errs, func(err error) bool { return errors.Is(err, fault.ErrUnavailable) })
	if at < 0 || len(errs) == 1 {
		return errors.Join(errs...)
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = strings.TrimPrefix(err.Error(), fault.ErrUnavailable.Error()+": ") // the error below names the kind
	}
	return fmt.Errorf("%w: %s", fault.ErrUnavailable, strings.Join(texts, "; ")) // without the kinds of the others
}
