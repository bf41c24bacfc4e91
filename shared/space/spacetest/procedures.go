package spacetest

import (
	"errors"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Procedures returns the procedures of the suite. Their arguments:
//
//	test.put     space, item, ttl ns, expiry, ephemeral → ref, 0
//	test.hold    space, name, ttl ns, expiry, whether without a session → ref, number; waits
//	test.claim   space, name, least number → ref, number; holds, waits
//	test.get     space, tuple → the same tuple, taken
//	test.renew   ref, ttl ns, expiry: holds it again
//	test.take, test.done    ref
//	test.back    ref, whether to a new place
//	test.replace ref, item
//	test.extend  ref, ttl ns
//	test.entry   ref → whether it exists, whether it is held, its holder, the item
//	test.scan, test.held    space, name → the numbers
//	test.move    name, from, to: takes from one space and puts into another; waits
//	test.first   name, space, other space → the first of either; waits for both
//	test.tell    session, number
//	test.token   → token
//	test.attributed space, item, fields, turn, label… → ref
//	test.amend   ref, fields, turn, label…
//	test.labelled space, label → the fields and the number of the last one
//	test.walk    space, label, name, held, how many to skip → the numbers
//	test.alive   session → whether it is
//	test.beat    KeepAlive
//	test.fail    space: changes everything, then fails
//	test.panic   space: changes everything, then panics
//	test.nest    space: puts "outer", ignores that test.fail fails, puts "outer"
//	test.loop    calls itself
//	test.reply   → a malformed reply
//	test.babble  sends a malformed message
//	test.nowhere waits for a space that does not exist
//
// Those named test.on.* are expiries; each logs (cause, ref, holder) in "log".
func Procedures() space.Procedures {
	return space.Procedures{
		"test.put": put, "test.hold": hold, "test.claim": claim, "test.renew": renew,
		"test.get":        get,
		"test.attributed": putAttributed, "test.amend": amend, "test.labelled": labelled, "test.walk": walk,
		"test.take":    func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return nil, tx.Take(args.Int64(0)) },
		"test.done":    func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return nil, tx.Done(args.Int64(0)) },
		"test.back":    back,
		"test.replace": replace,
		"test.extend": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			return nil, tx.Extend(args.Int64(0), time.Duration(args.Int64(1)))
		},
		"test.entry": entry, "test.scan": scan, "test.held": held, "test.move": move, "test.first": first,
		"test.tell": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			tx.Tell(args.Str(0), item("told", int(args.Int64(1))))
			return nil, nil
		},
		"test.token": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { return item("token", int(tx.NextToken())), nil },
		"test.alive": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return tuple.New(tx.Alive(args.Str(0))), nil },
		"test.beat":  func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) { tx.KeepAlive(); return nil, nil },
		"test.fail":  fail,
		"test.panic": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { _, err := fail(tx, args); panic(err) },
		"test.nest":  nest,
		"test.loop":  func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return tx.Call("test.loop", args) },
		"test.reply": func(space.Tx, tuple.Tuple) (tuple.Tuple, error) { return tuple.New(uint8(1)), nil },
		"test.babble": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
			tx.Tell(tx.Caller(), tuple.New(uint8(1)))
			return nil, nil
		},
		"test.nowhere": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
			return nil, tx.Wait(space.Awaited{Space: "nowhere", Template: anything})
		},
		"test.on.leave":   on(func(space.Tx, int64) error { return nil }),
		"test.on.done":    on(func(tx space.Tx, ref int64) error { return tx.Done(ref) }),
		"test.on.new":     on(func(tx space.Tx, ref int64) error { return tx.Back(ref, space.NewPlace) }),
		"test.on.replace": on(func(tx space.Tx, ref int64) error { return tx.Replace(ref, item("replaced", 1)) }),
		"test.on.extend":  on(func(tx space.Tx, ref int64) error { return tx.Extend(ref, time.Second) }),
		"test.on.rehold": on(func(tx space.Tx, ref int64) error {
			return tx.Hold(ref, space.HoldOptions{TTL: time.Second, NoSession: true})
		}),
		"test.on.fail":  on(func(tx space.Tx, ref int64) error { return errors.Join(tx.Take(ref), errFail) }),
		"test.on.panic": on(func(tx space.Tx, ref int64) error { panic(tx.Take(ref)) }),
	}
}

var errFail = fmt.Errorf("test.fail: %w", fault.ErrStaleToken)

// put is test.put.
func put(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	ref, err := tx.Put(args.Str(0), args[1].(tuple.Tuple), space.PutOptions{
		TTL: time.Duration(args.Int64(2)), Expiry: args.Str(3), Ephemeral: args.Bool(4),
	})
	return tuple.New(ref, int64(0)), err
}

// get is test.get; without a match it fails with fault.ErrNotFound.
func get(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(args.Str(0), args[1].(tuple.Tuple).Exactly(), nil)
	if !ok {
		return nil, fault.ErrNotFound
	}
	return e.Tuple, tx.Take(e.Ref)
}

// hold is test.hold: it holds the first item of the name, or waits for one.
func hold(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Find(args.Str(0), anyItem(args.Str(1)), nil)
	if !ok {
		return nil, tx.Wait(space.Awaited{Space: args.Str(0), Template: anyItem(args.Str(1))})
	}
	err := tx.Hold(e.Ref, space.HoldOptions{TTL: time.Duration(args.Int64(2)), Expiry: args.Str(3), NoSession: args.Bool(4)})
	return tuple.New(e.Ref, e.Tuple.Int64(1)), err
}

// claim is test.claim: it holds the first item of the name whose number is at least the third
// argument. Without one it puts an item and waits for the name, so that a test sees whether the
// engine undoes a run that waits.
func claim(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	tx.KeepAlive()
	p := anyItem(args.Str(1))
	e, ok := tx.Find(args.Str(0), p, func(e space.Entry) bool { return e.Tuple.Int64(1) >= args.Int64(2) })
	if !ok {
		if _, err := tx.Put(args.Str(0), item("vanity", 1), space.PutOptions{}); err != nil {
			return nil, err
		}
		return nil, tx.Wait(space.Awaited{Space: args.Str(0), Template: p})
	}
	return tuple.New(e.Ref, e.Tuple.Int64(1)), tx.Hold(e.Ref, space.HoldOptions{})
}

func renew(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	return nil, tx.Hold(args.Int64(0), space.HoldOptions{TTL: time.Duration(args.Int64(1)), Expiry: args.Str(2)})
}

// back is test.back.
func back(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	at := space.OldPlace
	if args.Bool(1) {
		at = space.NewPlace
	}
	return nil, tx.Back(args.Int64(0), at)
}

func replace(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	return nil, tx.Replace(args.Int64(0), args[1].(tuple.Tuple))
}

// entry is test.entry; an unknown ref has an empty tuple as its item.
func entry(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.Entry(args.Int64(0))
	if !ok {
		e.Tuple = tuple.New()
	}
	return tuple.New(ok, e.Held, e.Holder, e.Tuple), nil
}

// scan is test.scan. It also requires that the number of matches is their count.
func scan(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	found := tx.Scan(args.Str(0), anyItem(args.Str(1)))
	if tx.Count(args.Str(0), anyItem(args.Str(1))) != len(found) {
		return nil, errFail
	}
	return entryNumbers(found), nil
}

func held(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	return entryNumbers(tx.Held(args.Str(0), anyItem(args.Str(1)))), nil
}

// entryNumbers returns the numbers of the items in entries, as one tuple.
func entryNumbers(entries []space.Entry) tuple.Tuple {
	all := tuple.Tuple{}
	for _, e := range entries {
		all = append(all, e.Tuple[1])
	}
	return all
}

// move is test.move. It puts before it takes, so that a full space undoes nothing.
func move(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	p := anyItem(args.Str(0))
	e, ok := tx.Find(args.Str(1), p, nil)
	if !ok {
		return nil, tx.Wait(space.Awaited{Space: args.Str(1), Template: p})
	}
	if _, err := tx.Put(args.Str(2), e.Tuple, space.PutOptions{}); err != nil {
		return nil, err
	}
	return e.Tuple, tx.Take(e.Ref)
}

// first is test.first: it takes from the first space that has an item of the name, and waits for
// both if none has.
func first(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	var awaited []space.Awaited
	for _, name := range []string{args.Str(1), args.Str(2)} {
		p := anyItem(args.Str(0))
		if e, ok := tx.Find(name, p, nil); ok {
			return e.Tuple, tx.Take(e.Ref)
		}
		awaited = append(awaited, space.Awaited{Space: name, Template: p})
	}
	return nil, tx.Wait(awaited...)
}

// fail changes every item of a space, each in another way, and fails.
func fail(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	tx.NextToken()
	tx.Tell(tx.Caller(), item("told", 0))
	for i, e := range tx.Scan(args.Str(0), anything) {
		var err error
		switch i % 4 {
		case 0:
			err = tx.Take(e.Ref)
		case 1:
			err = tx.Replace(e.Ref, item("replaced", 0))
		case 2:
			err = errors.Join(tx.Hold(e.Ref, space.HoldOptions{TTL: time.Second}), tx.Back(e.Ref, space.NewPlace))
		case 3:
			err = errors.Join(tx.Extend(e.Ref, time.Second), tx.Hold(e.Ref, space.HoldOptions{TTL: time.Second}), tx.Done(e.Ref))
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := tx.Put(args.Str(0), item("vanity", 1), space.PutOptions{TTL: time.Second, Ephemeral: true}); err != nil {
		return nil, err
	}
	return nil, errFail
}

// nest is test.nest: twice it puts an item and calls test.fail, whose error must be the procedure's and must not undo
// the item.
func nest(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	for n := range 2 {
		if _, err := tx.Put(args.Str(0), item("outer", n+1), space.PutOptions{}); err != nil {
			return nil, err
		}
		if _, err := tx.Call("test.fail", args); !errors.Is(err, fault.ErrStaleToken) {
			return nil, fmt.Errorf("test.fail: %v", err)
		}
	}
	return nil, nil
}

// on returns an expiry procedure that logs the cause, the ref and the holder, and then calls
// then.
func on(then func(tx space.Tx, ref int64) error) space.Procedure {
	return func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		_, x, err := space.Expiring(tx, args)
		if err != nil {
			return nil, err
		}
		if _, err := tx.Put("log", tuple.New(string(x.Cause), x.Ref, x.Holder), space.PutOptions{}); err != nil {
			return nil, err
		}
		return nil, then(tx, x.Ref)
	}
}
