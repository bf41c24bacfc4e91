package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// execute runs one request as one transaction, perhaps again after a wait. The
// error errWait says that it found nothing, did nothing, and waits for what is
// awaited.
func (e *Engine) execute(s *session, r space.Request, again bool) (space.Reply, []space.Awaited, error) {
	tx := e.begin(s)
	tx.again = again
	var reply space.Reply
	err := tx.try(func() (err error) {
		if reply, err = tx.perform(r); err != nil {
			return err
		}
		return tx.affordable()
	})
	if errors.Is(err, errWait) {
		return space.Reply{}, tx.awaited, errWait
	}
	if err != nil {
		e.refuse(s, r, err)
		return space.Reply{}, nil, err
	}
	e.finish(tx, r.Op, reply)
	return reply, nil, nil
}

// perform is what each verb does.
func (tx *transaction) perform(r space.Request) (space.Reply, error) {
	switch r.Verb {
	case space.VerbCreate:
		return space.Reply{}, tx.create(r.Space, r.Options)
	case space.VerbList:
		return space.Reply{Infos: tx.e.list()}, nil
	case space.VerbCall:
		return tx.callRequest(r)
	case space.VerbPut, space.VerbPutP:
		return space.Reply{}, tx.putRequest(r)
	}
	room, err := tx.room(r.Space)
	if err != nil {
		return space.Reply{}, err
	}
	switch r.Verb {
	case space.VerbCount:
		return space.Reply{Count: room.visible.count(r.Template)}, nil
	case space.VerbGet, space.VerbGetP, space.VerbQuery, space.VerbQueryP:
		return tx.one(room, r)
	case space.VerbGetAll, space.VerbQueryAll:
		return tx.all(room, r)
	}
	return space.Reply{}, fmt.Errorf("verb %d: %w", r.Verb, fault.ErrInvalid)
}

// callRequest calls a procedure on behalf of a session.
func (tx *transaction) callRequest(r space.Request) (space.Reply, error) {
	reply, err := tx.Call(r.Procedure, r.Args)
	if errors.Is(err, errWait) {
		for _, a := range tx.awaited {
			if _, err := tx.room(a.Space); err != nil { // nothing would wake it
				return space.Reply{}, fmt.Errorf("wait: %w", err)
			}
		}
	}
	if err != nil {
		return space.Reply{}, err
	}
	if err := reply.Validate(); err != nil {
		return space.Reply{}, fmt.Errorf("its reply: %w", err)
	}
	return space.Reply{Tuple: reply.Clone()}, nil
}

// putRequest puts; into a full space that blocks, and behind others that wait
// for room, it waits.
func (tx *transaction) putRequest(r space.Request) error {
	room, err := tx.room(r.Space)
	if err != nil {
		return err
	}
	blocks := r.Verb == space.VerbPut && room.def.Options.Overflow == space.Block
	if blocks && room.putters.len() > 0 && !tx.again {
		return errWait
	}
	_, err = tx.put(r.Space, putTuple(r, tx.again), space.PutOptions{TTL: r.TTL})
	if blocks && errors.Is(err, fault.ErrOverloaded) {
		return errWait
	}
	return err
}

// one finds a tuple, and takes it if the verb takes.
func (tx *transaction) one(room *room, r space.Request) (space.Reply, error) {
	x := room.find(r.Template, nil)
	tx.look(r, x)
	if x == nil {
		if r.Verb == space.VerbGet || r.Verb == space.VerbQuery {
			return space.Reply{}, tx.Wait(space.Awaited{Space: r.Space, Template: r.Template})
		}
		return space.Reply{}, nil
	}
	if r.Verb == space.VerbGet || r.Verb == space.VerbGetP {
		tx.takeFor(r, x)
	}
	return space.Reply{Found: true, Tuple: r.Answer(x.Tuple)}, nil
}

// all finds all matches, and takes them if the verb takes.
func (tx *transaction) all(room *room, r space.Request) (space.Reply, error) {
	found := matches(&room.visible, r.Template)
	size := 0
	for _, x := range found {
		if size += x.Tuple.Size() + space.ReplyOverhead; size > space.MaxReply {
			return space.Reply{}, fmt.Errorf("%w: the %d matches take more than %d bytes", fault.ErrTooLarge, len(found), space.MaxReply)
		}
	}
	tx.look(r, found...)
	if len(found) == 0 {
		return space.Reply{}, nil
	}
	reply := space.Reply{Found: true, Tuples: make([]tuple.Tuple, len(found))}
	for i, x := range found {
		reply.Tuples[i] = r.Answer(x.Tuple)
		if r.Verb == space.VerbGetAll {
			tx.takeFor(r, x)
		}
	}
	return reply, nil
}

// create makes a space. It is not undone: it is the last thing that can fail.
func (tx *transaction) create(name string, o space.Options) error {
	if name == "" || len(name) > space.MaxName {
		return fmt.Errorf("%w: a space needs a name of at most %d bytes", fault.ErrInvalid, space.MaxName)
	}
	o, err := o.Normalize()
	if err != nil {
		return err
	}
	if r := tx.e.rooms[name]; r != nil {
		if r.def.Options == o {
			return nil
		}
		return fmt.Errorf("%w: it exists with other options: %+v", fault.ErrConflict, r.def.Options)
	}
	if len(tx.e.rooms) >= MaxSpaces {
		return fmt.Errorf("%w: %d spaces", fault.ErrOverloaded, MaxSpaces)
	}
	if tx.e.full() {
		return errFull
	}
	def := &journal.Space{Name: name, Options: o}
	tx.e.rooms[name] = newRoom(def, tx.e.seed)
	tx.facts = append(tx.facts, def)
	return nil
}

// list describes all spaces.
func (e *Engine) list() []space.Info {
	infos := make([]space.Info, 0, len(e.rooms))
	for _, name := range slices.Sorted(maps.Keys(e.rooms)) {
		r := e.rooms[name]
		held := 0
		for _, b := range r.held.buckets {
			held += b.all.len()
		}
		infos = append(infos, space.Info{Name: name, Options: r.def.Options, Visible: r.size - held, Held: held})
	}
	return infos
}
