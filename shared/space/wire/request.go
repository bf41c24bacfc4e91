package wire

import (
	"fmt"

	"leasehold/shared/space"
)

// request lists the fields of a request, to write them or to read them. Tags 1 to 12 belong to version 1; a tag never
// changes its meaning. Options are written only if they are set, because message also writes an empty one.
func (c *coder) request(r *space.Request) {
	natural(c, 1, &r.Verb)
	name(c, 2, &r.Op.Session)
	natural(c, 3, &r.Op.Seq)
	name(c, 4, &r.Space)
	c.tuple(5, &r.Tuple)
	c.template(6, &r.Template)
	integer(c, 7, &r.TTL) // nanoseconds
	name(c, 8, &r.Procedure)
	if c.reading || r.Options != (space.Options{}) {
		message(c, 9, &r.Options, (*coder).options)
	}
	integer(c, 10, &r.Subscription)
	c.boolean(11, &r.Ack)
	c.boolean(12, &r.Recent)
	c.tuple(13, &r.Args)
	c.naturals(14, &r.Acknowledged)
	integer(c, 15, &r.Limit) // of verbs that older gates refuse
}

// options lists the fields of the options of a space.
func (c *coder) options(o *space.Options) {
	name(c, 1, &o.Kind)
	integer(c, 2, &o.OrderBy)
	integer(c, 3, &o.Capacity)
	name(c, 4, &o.Overflow)
	c.boolean(5, &o.Volatile)
}

// AppendRequest appends a request's body to buf. It fails with fault.ErrInvalid for a tuple, a template or a name
// that no engine would accept.
func AppendRequest(buf []byte, r space.Request) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return buf, err
	}
	c := coder{out: buf}
	c.request(&r)
	return c.out, nil
}

// DecodeRequest decodes the body of a request. It fails with fault.ErrInvalid for a malformed one or one that no
// engine would accept, and with fault.ErrTooLarge for an overlong name.
func DecodeRequest(data []byte) (space.Request, error) {
	var r space.Request
	c := reader(data)
	for c.more() {
		c.request(&r)
	}
	if c.err == nil {
		c.err = r.Validate()
	}
	if c.err != nil {
		return space.Request{}, fmt.Errorf("request: %w", c.err)
	}
	return r, nil
}
