package interop

import (
	"encoding/binary"
	"fmt"
	"slices"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	procFind    = "interop.find"
	procFindAll = "interop.findall"
	procDone    = "interop.done"
	procBack    = "interop.back"
)

// pageBytes is the size in bytes after which interop.findall ends a page.
const pageBytes = tuple.MaxBytes / 2

// How a procedure finds: a sum of these.
const (
	taking  int64 = 1 << iota // holds what it finds for the caller
	waiting                   // waits if there is no match
)

// ErrCannotWait means that a pattern matches so many types that a procedure cannot wait
// for it; the caller must watch the space (space.Space.Notify).
var ErrCannotWait = fmt.Errorf("a pattern of more than %d templates cannot wait: %w", maxTemplates, fault.ErrInvalid)

// Procedures returns the procedures of the protocol: interop.find (space, how, pattern),
// interop.findall (space, how, pattern, after as three int64), interop.done and interop.back
// (refs), interop.claim (action, how), interop.handback (token) and interop.report (result). From the spaces
// in closed, whose tuples only their protocols take, nothing is taken or ended.
func Procedures(closed map[string]bool) space.Procedures {
	anyBytes := tuple.Formal{Type: tuple.Bytes}
	return space.Procedures{
		procFind:     space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64, anyBytes), unlessTaking(closed, find)),
		procFindAll:  space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64, anyBytes, tuple.AnyInt64, tuple.AnyInt64, tuple.AnyInt64), unlessTaking(closed, findAll)),
		procDone:     space.WithArgs(tuple.Match(anyBytes), ending(closed, space.Tx.Done)),
		procBack:     space.WithArgs(tuple.Match(anyBytes), ending(closed, returnTuple)),
		procClaim:    space.WithArgs2(claim),
		procHandBack: space.WithArgs1(handBack),
		procReport:   space.WithArgs1(report),
	}
}

// unlessTaking refuses to take from a space whose tuples only its protocol takes.
func unlessTaking(closed map[string]bool, p space.Procedure) space.Procedure {
	return func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		if closed[args.Str(0)] && args.Int64(1)&taking != 0 {
			return nil, space.ErrQueryOnly(args.Str(0))
		}
		return p(tx, args)
	}
}

// search is the decoded arguments of a procedure that finds.
type search struct {
	space   string
	how     int64
	pattern Pattern
}

// decodeSearch decodes the first three arguments of a procedure that finds.
func decodeSearch(args tuple.Tuple) (search, error) {
	data, _ := args[2].([]byte) // WithArgs has checked the types
	p, err := decodePattern(data)
	return search{args.Str(0), args.Int64(1), p}, err
}

func (s search) keep(e space.Entry) bool { return s.pattern.Matches(e.Tuple) }

// find (space, how, pattern) returns the encoded tuple that was found and its ref; nothing if there is none. If how
// has taking it holds the tuple, without a TTL, so that it comes back when the session ends; if how has waiting it
// waits for one. It returns ErrCannotWait for a pattern that matches too many types to wait for.
func find(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	s, err := decodeSearch(args)
	if err != nil {
		return nil, err
	}
	found, ok, err := s.first(tx)
	if err != nil {
		return nil, err
	}
	if !ok && s.how&waiting != 0 {
		return s.wait(tx)
	}
	if !ok {
		return tuple.New(), nil
	}
	if s.how&taking != 0 {
		if err := tx.Hold(found.Ref, space.HoldOptions{}); err != nil {
			return nil, err
		}
	}
	return tuple.New(found.Tuple.Append(nil), found.Ref), nil
}

// first returns the first match in the order of the space's kind, and whether there is one. It asks for the first
// match of each template, or, if p has no list of templates, surveys the space.
func (s search) first(tx space.Tx) (found space.Entry, ok bool, err error) {
	templates, enumerable := s.pattern.templates()
	if !enumerable {
		all, err := s.survey(tx)
		if err != nil || len(all) == 0 {
			return space.Entry{}, false, err
		}
		return all[0], true, nil
	}
	for _, t := range templates {
		if e, matches := tx.Find(s.space, t, s.keep); matches && (!ok || e.Position.Compare(found.Position) < 0) {
			found, ok = e, true
		}
	}
	return found, ok, nil
}

// visibleOnly is for Survey, whose argument is whether to return held tuples too.
const visibleOnly = false

// survey returns all visible matches in order, at the cost of a scan of the whole space.
func (s search) survey(tx space.Tx) ([]space.Entry, error) {
	surveyor, ok := tx.(space.Surveyor)
	if !ok {
		return nil, fmt.Errorf("%w: these spaces do not support patterns of many types", fault.ErrInvalid)
	}
	return surveyor.Survey(s.space, visibleOnly, s.keep), nil
}

// wait returns the error with which the procedure waits for a match of any template, or
// ErrCannotWait if the pattern has no list of templates.
func (s search) wait(tx space.Tx) (tuple.Tuple, error) {
	templates, enumerable := s.pattern.templates()
	if !enumerable {
		return nil, ErrCannotWait
	}
	awaited := make([]space.Awaited, len(templates))
	for i, t := range templates {
		awaited[i] = space.Awaited{Space: s.space, Template: t}
	}
	return nil, tx.Wait(awaited...)
}

// findAll (space, how, pattern, after) returns a page of the matches behind the position after: (page, position of
// its last match, more). The page is the matches one after the other, each as its ref and its encoded tuple, about
// pageBytes of them and at least one; more is whether a further page follows. If how has taking it holds the matches
// of the page.
func findAll(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	s, err := decodeSearch(args)
	if err != nil {
		return nil, err
	}
	matches, err := s.all(tx)
	if err != nil {
		return nil, err
	}
	after := space.Position{Major: args.Int64(3), Turn: args.Int64(4), Minor: args.Int64(5)}
	answer := func(page []byte, more bool) (tuple.Tuple, error) {
		return tuple.New(page, after.Major, after.Turn, after.Minor, more), nil
	}
	var page []byte
	for _, e := range matches {
		if after != (space.Position{}) && after.Compare(e.Position) >= 0 {
			continue
		}
		if len(page) > 0 && len(page)+e.Tuple.Size() > pageBytes {
			return answer(page, true)
		}
		if s.how&taking != 0 {
			if err := tx.Hold(e.Ref, space.HoldOptions{}); err != nil {
				return nil, err
			}
		}
		page, after = e.Tuple.Append(binary.AppendVarint(page, e.Ref)), e.Position
	}
	return answer(page, false)
}

// all returns all visible matches in the order of the space's kind. A tuple that several templates match is in it
// once.
func (s search) all(tx space.Tx) ([]space.Entry, error) {
	templates, enumerable := s.pattern.templates()
	var all []space.Entry
	if !enumerable {
		var err error
		if all, err = s.survey(tx); err != nil {
			return nil, err
		}
	}
	for _, t := range templates {
		all = append(all, tx.Scan(s.space, t)...)
	}
	all = slices.DeleteFunc(all, func(e space.Entry) bool { return !s.keep(e) })
	slices.SortFunc(all, func(a, b space.Entry) int { return a.Position.Compare(b.Position) })
	return slices.CompactFunc(all, func(a, b space.Entry) bool { return a.Ref == b.Ref }), nil
}

// ending returns a procedure (refs) that calls end with each ref that the caller holds, and ignores the others,
// because a hold may have ended and another session may hold the tuple now. It ignores what a protocol holds in the
// closed spaces too: a claim ends as its protocol ends it.
func ending(closed map[string]bool, end func(tx space.Tx, ref int64) error) space.Procedure {
	return func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
		data, _ := args[0].([]byte) // WithArgs has checked the type
		for len(data) > 0 {
			ref, size := binary.Varint(data)
			if size <= 0 {
				return nil, fmt.Errorf("refs of a session: %w", fault.ErrInvalid)
			}
			data = data[size:]
			if e, ok := tx.Entry(ref); ok && e.Held && e.Holder == tx.Caller() && !closed[e.Space] {
				if err := end(tx, ref); err != nil {
					return nil, err
				}
			}
		}
		return nil, nil
	}
}

// returnTuple returns a held tuple to its old place.
func returnTuple(tx space.Tx, ref int64) error { return tx.Back(ref, space.OldPlace) }

// Searches returns the space in which interop.find or interop.findall with these arguments looks, and whether it takes
// what it finds; an empty name for arguments that no caller sends.
func Searches(args tuple.Tuple) (in string, takes bool) {
	if len(args) < 2 {
		return "", false
	}
	in, _ = args[0].(string)
	how, _ := args[1].(int64)
	return in, how&taking != 0
}
