package engine

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// swap makes new stand where old stood, in every index; either may be nil. It
// is its own inverse with the arguments exchanged.
func (e *Engine) swap(old, new *entry) {
	if old != nil {
		e.rooms[old.Space].remove(old)
		e.sessions.disown(old)
		if dueAt(old) != 0 {
			e.timers.unset(old.Ref)
		}
		delete(e.entries, old.Ref)
		if old.Hold != nil {
			e.held--
		}
	}
	if new != nil {
		e.entries[new.Ref] = new
		e.rooms[new.Space].add(new)
		e.sessions.own(new)
		if new.Hold != nil {
			e.held++
		}
		if at := dueAt(new); at != 0 {
			e.timers.setEntry(at, new)
		}
	}
}

// dueAt is when an entry's timer fires: its hold's, else its TTL's; 0 is never.
func dueAt(e *entry) time.Duration {
	if e.Hold != nil {
		return e.Hold.Due
	}
	return e.Deadline
}

func (tx *transaction) Put(name string, t tuple.Tuple, o space.PutOptions) (int64, error) {
	if err := t.Validate(); err != nil {
		return 0, fmt.Errorf("put into %s: %w: %w", name, fault.ErrInvalid, err)
	}
	return tx.put(name, t.Clone(), o)
}

// put adds a tuple that is valid and nobody else's.
func (tx *transaction) put(name string, t tuple.Tuple, o space.PutOptions) (int64, error) {
	r, err := tx.room(name)
	if err != nil {
		return 0, err
	}
	if err := r.accepts(t); err != nil {
		return 0, err
	}
	for r.full() {
		if !tx.makeRoom(r) {
			return 0, fmt.Errorf("space %s holds %d tuples: %w", name, r.size, fault.ErrOverloaded)
		}
	}
	if o.TTL < 0 {
		return 0, fmt.Errorf("put into %s: %w: a TTL of %s", name, fault.ErrInvalid, o.TTL)
	}
	e := &entry{Ref: tx.e.nextPlace(), Space: name, Tuple: t, Expiry: o.Expiry}
	e.Place = e.Ref
	if o.TTL > 0 {
		e.Deadline = tx.e.now() + o.TTL
	}
	if o.Ephemeral && tx.caller != nil {
		e.Owner = tx.caller.id
	}
	tx.change(nil, e, space.Put)
	return e.Ref, nil
}

// accepts refuses a tuple that an ordered space could not place.
func (r *room) accepts(t tuple.Tuple) error {
	if r.def.Options.Kind != space.Ordered {
		return nil
	}
	if i := r.def.Options.OrderBy; i >= len(t) || tuple.TypeOf(t[i]) != tuple.Int64 {
		return fmt.Errorf("put into %s: %w: the space is ordered by field %d, which must be an int64; got %s", r.def.Name, fault.ErrInvalid, i, t)
	}
	return nil
}

// makeRoom drops the oldest tuple of a full space if its options say so.
func (tx *transaction) makeRoom(r *room) bool {
	if r.def.Options.Overflow != space.DropOldest {
		return false
	}
	oldest, ok := r.byAge.first()
	if ok {
		tx.change(oldest, nil, space.Take)
	}
	return ok
}

func (tx *transaction) Take(ref int64) error {
	e, err := tx.entry(ref)
	if err != nil {
		return err
	}
	tx.change(e, nil, space.Take)
	return nil
}

func (tx *transaction) Done(ref int64) error {
	e, err := tx.heldEntry(ref)
	if err != nil {
		return err
	}
	tx.change(e, nil, space.Done)
	return nil
}

func (tx *transaction) heldEntry(ref int64) (*entry, error) {
	e, err := tx.entry(ref)
	if err == nil && e.Hold == nil {
		return nil, fmt.Errorf("tuple %d: %w: it is not held", ref, fault.ErrConflict)
	}
	return e, err
}

func (tx *transaction) Replace(ref int64, t tuple.Tuple) error {
	e, err := tx.entry(ref)
	if err != nil {
		return err
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("replace in %s: %w: %w", e.Space, fault.ErrInvalid, err)
	}
	if err := tx.e.rooms[e.Space].accepts(t); err != nil {
		return err
	}
	changed := *e
	changed.Tuple = t.Clone()
	tx.change(e, &changed, space.Replace)
	return nil
}

func (tx *transaction) Extend(ref int64, ttl time.Duration) error {
	e, err := tx.entry(ref)
	if err != nil {
		return err
	}
	if ttl < 0 {
		return fmt.Errorf("tuple %d: %w: a TTL of %s", ref, fault.ErrInvalid, ttl)
	}
	changed := *e
	changed.Deadline = 0
	if ttl > 0 {
		changed.Deadline = tx.e.now() + ttl
	}
	tx.change(e, &changed, space.Replace)
	return nil
}

func (tx *transaction) Hold(ref int64, o space.HoldOptions) error {
	e, err := tx.entry(ref)
	if err != nil {
		return err
	}
	hold := &journal.Hold{Expiry: o.Expiry}
	if !o.NoSession && tx.caller != nil {
		hold.Session = tx.caller.id
	}
	if o.TTL > 0 {
		hold.Due = tx.e.now() + o.TTL
	}
	if o.TTL < 0 || hold.Session == "" && hold.Due == 0 {
		return fmt.Errorf("tuple %d: %w: a hold of %s; one by nobody needs a TTL", ref, fault.ErrInvalid, o.TTL)
	}
	changed := *e
	changed.Hold = hold
	tx.change(e, &changed, space.Hold)
	return nil
}

func (tx *transaction) Back(ref int64, at space.Placement) error {
	e, err := tx.heldEntry(ref)
	if err != nil {
		return err
	}
	tx.back(e, at)
	return nil
}

// back makes an entry visible that was held, or taken and not acknowledged.
func (tx *transaction) back(e *entry, at space.Placement) {
	changed := *e
	changed.Hold = nil
	if at == space.NewPlace {
		changed.Place = tx.e.nextPlace()
	}
	tx.change(e, &changed, space.Back)
	if changed.Deadline != 0 && changed.Deadline <= tx.e.now() {
		tx.lapse(&changed)
	}
}

// nextPlace returns a number that orders entries and names them.
func (e *Engine) nextPlace() int64 {
	e.place++
	return e.place
}
