package engine

import (
	"fmt"
	"slices"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// replace puts new in the place of old in every index and timer; either may be nil: an entry
// that comes, or that goes. old must be the current entry of its ref, and the space of both must
// exist. It is its own inverse with the arguments exchanged. The caller holds state.mu.
func (st *state) replace(old, new *entry) {
	if old != nil {
		st.spaces[old.Space].remove(old)
		cost := st.cost(old)
		st.contents.Add(-cost)
		st.spaces[old.Space].count(old, -cost)
		st.sessions.unlink(old)
		if dueAt(old) != 0 {
			st.timers.unset(old.Ref)
		}
		delete(st.entries, old.Ref)
		if old.Hold != nil {
			st.held--
		}
	}
	if new != nil {
		st.entries[new.Ref] = new
		st.spaces[new.Space].add(new)
		cost := st.cost(new)
		st.contents.Add(cost)
		st.spaces[new.Space].count(new, cost)
		st.sessions.link(new)
		if new.Hold != nil {
			st.held++
		}
		if at := dueAt(new); at != 0 {
			st.timers.setEntry(at, new)
		}
	}
}

// dueAt returns when an entry's timer fires: when its hold ends, else when its TTL
// does; 0 is never.
func dueAt(x *entry) time.Duration {
	if x.Hold != nil {
		return x.Hold.Due
	}
	return x.Deadline
}

// Put clones the tuple, because a procedure may keep and change its own.
func (tx *transaction) Put(name string, t tuple.Tuple, o space.PutOptions) (int64, error) {
	if err := t.Validate(); err != nil {
		return 0, fmt.Errorf("put into %s: %w: %w", name, fault.ErrInvalid, err)
	}
	in, err := tx.st.space(name)
	if err != nil {
		return 0, err
	}
	return tx.putOwned(in, t.Clone(), o)
}

// putOwned adds a valid tuple that the engine owns, and returns its ref. A full space loses its oldest visible tuples
// if its overflow is DropOldest; otherwise, and if all are held, it refuses the put. After an error the caller's try
// brings back the tuples that were removed.
func (tx *transaction) putOwned(in *spaceState, t tuple.Tuple, o space.PutOptions) (int64, error) {
	if err := in.checkOrderField(t); err != nil {
		return 0, err
	}
	for in.full(o.Reserve) {
		var oldest *entry
		if in.def.Options.Overflow == space.DropOldest {
			oldest, _ = in.byAge.first()
		}
		if oldest == nil {
			return 0, fmt.Errorf("space %s holds %d tuples: %w", in.def.Name, in.size, fault.ErrOverloaded)
		}
		tx.change(oldest, nil, space.Take)
	}
	if o.TTL < 0 {
		return 0, fmt.Errorf("put into %s: %w: a TTL of %s, want 0 or more", in.def.Name, fault.ErrInvalid, o.TTL)
	}
	if err := o.Attributes.Check(); err != nil {
		return 0, fmt.Errorf("put into %s: %w", in.def.Name, err)
	}
	x := &entry{Ref: tx.st.nextNumber(), Space: in.def.Name, Tuple: t, Expiry: o.Expiry, Attributes: attributes(o.Attributes)}
	x.Place = x.Ref
	if o.TTL > 0 {
		x.Deadline = tx.now() + o.TTL
	}
	if o.Ephemeral {
		x.Owner = tx.Caller()
	}
	tx.change(nil, x, space.Put)
	tx.steps[len(tx.steps)-1].reserve = o.Reserve
	return x.Ref, nil
}

func (tx *transaction) Take(ref int64) error {
	x, err := tx.entry(ref)
	if err != nil {
		return err
	}
	tx.change(x, nil, space.Take)
	return nil
}

func (tx *transaction) Done(ref int64) error {
	x, err := tx.heldEntry(ref)
	if err != nil {
		return err
	}
	tx.change(x, nil, space.Done)
	return nil
}

// heldEntry returns the entry of a ref, and refuses one that no session holds.
func (tx *transaction) heldEntry(ref int64) (*entry, error) {
	x, err := tx.entry(ref)
	if err == nil && x.Hold == nil {
		return nil, fmt.Errorf("tuple %d: %w: it is not held", ref, fault.ErrConflict)
	}
	return x, err
}

// Replace changes a copy of the entry: entries are immutable, because facts, steps and undoing refer to them.
func (tx *transaction) Replace(ref int64, t tuple.Tuple) error {
	x, err := tx.entry(ref)
	if err != nil {
		return err
	}
	return tx.replace(x, t, x.Attributes)
}

// Amend without a tuple is traced and notified as a replacement of the tuple by itself.
func (tx *transaction) Amend(ref int64, t tuple.Tuple, a space.Attributes) error {
	x, err := tx.entry(ref)
	if err != nil {
		return err
	}
	if err := a.Check(); err != nil {
		return fmt.Errorf("tuple %d: %w", ref, err)
	}
	if t == nil {
		t = x.Tuple
	}
	return tx.replace(x, t, attributes(a))
}

// replace gives a current entry a copy of another tuple, and other attributes; nil is none.
func (tx *transaction) replace(x *entry, t tuple.Tuple, a *space.Attributes) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("replace in %s: %w: %w", x.Space, fault.ErrInvalid, err)
	}
	if err := tx.st.spaces[x.Space].checkOrderField(t); err != nil {
		return err
	}
	changed := *x
	changed.Tuple, changed.Attributes = t.Clone(), a
	tx.change(x, &changed, space.Replace)
	return nil
}

// attributes returns what an entry keeps of a: a copy, or nil if a has no attribute, so that
// most entries take less memory.
func attributes(a space.Attributes) *space.Attributes {
	if a.IsZero() {
		return nil
	}
	a.Labels = slices.Clone(a.Labels)
	return &a
}

// Extend sets the deadline of an entry to ttl from now, or to none if ttl is 0. It is traced and notified as a
// replacement of the tuple by itself.
func (tx *transaction) Extend(ref int64, ttl time.Duration) error {
	x, err := tx.entry(ref)
	if err != nil {
		return err
	}
	if ttl < 0 {
		return fmt.Errorf("tuple %d: %w: a TTL of %s, want 0 or more", ref, fault.ErrInvalid, ttl)
	}
	changed := *x
	changed.Deadline = 0
	if ttl > 0 {
		changed.Deadline = tx.now() + ttl
	}
	tx.change(x, &changed, space.Replace)
	return nil
}

// Hold makes a new journal.Hold even in place of an equal one, because endHold compares the pointers to tell whether
// an expiry procedure changed the hold. It refuses a hold that nothing would end: one without a caller, a TTL and
// NoSession.
func (tx *transaction) Hold(ref int64, o space.HoldOptions) error {
	x, err := tx.entry(ref)
	if err != nil {
		return err
	}
	hold := &journal.Hold{Expiry: o.Expiry}
	if !o.NoSession {
		hold.Session = tx.Caller()
	}
	if o.TTL > 0 {
		hold.Due = tx.now() + o.TTL
	}
	if o.TTL < 0 {
		return fmt.Errorf("tuple %d: %w: a hold of %s; a TTL is positive, or 0 for none", ref, fault.ErrInvalid, o.TTL)
	}
	if hold.Session == "" && !o.NoSession && hold.Due == 0 {
		return fmt.Errorf("tuple %d: %w: a hold without a caller needs a TTL or no session", ref, fault.ErrInvalid)
	}
	changed := *x
	changed.Hold = hold
	tx.change(x, &changed, space.Hold)
	return nil
}

// Back makes a held entry visible.
func (tx *transaction) Back(ref int64, at space.Placement) error {
	x, err := tx.heldEntry(ref)
	if err != nil {
		return err
	}
	tx.back(x, at)
	return nil
}

// back makes an entry visible that was held, or taken and not acknowledged. If its
// TTL has passed meanwhile, the TTL ends now.
func (tx *transaction) back(x *entry, at space.Placement) {
	changed := *x
	changed.Hold = nil
	if at == space.NewPlace {
		changed.Place = tx.st.nextNumber()
	}
	tx.change(x, &changed, space.Back)
	if changed.Deadline != 0 && changed.Deadline <= tx.now() {
		tx.endTTL(&changed)
	}
}
