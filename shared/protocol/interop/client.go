package interop

import (
	"context"
	"encoding/binary"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Client calls the procedures of the protocol over one session. It may be used
// concurrently.
type Client struct {
	Repo space.Repository
	// Op is the operation id of Done and Back, so that repeating the call has no second effect. A client with an Op is
	// for one call. The zero Op lets the connection choose.
	Op space.OpID
}

// Found is a tuple that a pattern matched, with the number by which a taken one is
// confirmed or given back.
type Found struct {
	Tuple tuple.Tuple
	Ref   int64
}

// Options of a search.
type Options struct {
	Take bool // hold what is found, until Done or Back
	Wait bool // wait for a match
}

// how encodes the options as the argument of a procedure, which decodes its bits taking and
// waiting.
func (o Options) how() int64 {
	how := int64(0)
	if o.Take {
		how |= taking
	}
	if o.Wait {
		how |= waiting
	}
	return how
}

// Find returns the first match in a space in the order of its kind; ok is false if there is none and it does not
// wait. ErrCannotWait means that the pattern matches too many types to wait for it. A space that does not exist looks
// empty. It fails with fault.ErrCorrupt if the answer cannot be decoded, and with fault.ErrInvalid for a malformed
// pattern.
func (c Client) Find(ctx context.Context, name string, p Pattern, o Options) (f Found, ok bool, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procFind, tuple.New(name, o.how(), p.encode()))
	if err != nil || len(reply) == 0 {
		return Found{}, false, err
	}
	data, _ := reply[0].([]byte)
	t, _, err := tuple.Decode(data)
	if err != nil {
		return Found{}, false, fmt.Errorf("%s: %w: %w", procFind, fault.ErrCorrupt, err)
	}
	return Found{t, reply.Int64(1)}, true, nil
}

// FindAll returns all matches in a space in the order of its kind, which it reads page by page; each page begins
// behind the last match of the one before. If they are more than space.MaxReply bytes it fails with
// fault.ErrTooLarge. After any error it returns what it took before, which the caller gives back. It never waits, also if o.Wait is set. A tuple that
// changes its place between two pages may be missed. An answer that cannot be decoded fails with fault.ErrCorrupt.
func (c Client) FindAll(ctx context.Context, name string, p Pattern, o Options) (all []Found, err error) {
	size := 0
	after := tuple.New(int64(0), int64(0), int64(0)) // a position
	for more := true; more; {
		reply, err := c.Repo.Call(ctx, space.OpID{}, procFindAll, append(tuple.New(name, o.how(), p.encode()), after...))
		if err != nil {
			return all, err
		}
		page, _ := reply[0].([]byte)
		after, more = reply[1:4], reply.Bool(4)
		for len(page) > 0 {
			ref, n := binary.Varint(page)
			t, rest, err := tuple.Decode(page[max(0, n):])
			if err != nil {
				return all, fmt.Errorf("%s: %w: %w", procFindAll, fault.ErrCorrupt, err)
			}
			all, page = append(all, Found{t, ref}), rest
			size += t.Size() + space.ReplyOverhead
		}
		if size > space.MaxReply {
			return all, fmt.Errorf("all matches in %s: %w: more than %d bytes", name, fault.ErrTooLarge, space.MaxReply)
		}
	}
	return all, nil
}

// Done removes for good what Find or FindAll took.
func (c Client) Done(ctx context.Context, taken ...Found) error {
	return c.endHolds(ctx, procDone, taken)
}

// Back returns to its old place what Find or FindAll took.
func (c Client) Back(ctx context.Context, taken ...Found) error {
	return c.endHolds(ctx, procBack, taken)
}

// endHolds calls a procedure with the refs of the tuples that were taken; without any it does
// nothing.
func (c Client) endHolds(ctx context.Context, procedure string, taken []Found) error {
	var refs []byte
	for _, f := range taken {
		refs = binary.AppendVarint(refs, f.Ref)
	}
	if len(refs) == 0 {
		return nil
	}
	_, err := c.Repo.Call(ctx, c.Op, procedure, tuple.New(refs))
	return err
}

// Claim claims a task of an action, or of any action if it is empty, for the session, and
// returns its tuple; ok is false if there is none and it does not wait.
func (c Client) Claim(ctx context.Context, action string, wait bool) (t tuple.Tuple, ok bool, err error) {
	t, err = c.Repo.Call(ctx, space.OpID{}, procClaim, tuple.New(action, Options{Wait: wait}.how()))
	return t, err == nil && len(t) > 0, err
}

// HandBack gives back the task that the session claimed with a token. It counts no
// attempt, and does nothing if the session does not hold the task.
func (c Client) HandBack(ctx context.Context, token int64) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procHandBack, tuple.New(token))
	return err
}

// Report reports a result tuple of package task, and reports whether the session held the
// task of its token. The result is put in either case.
func (c Client) Report(ctx context.Context, result tuple.Tuple) (current bool, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procReport, tuple.New(result))
	return reply.Bool(0), err
}
