package wire

import (
	"fmt"

	"leasehold/shared/space"
)

// reply lists the fields of a reply, to write them or to read them. Journals keep replies in
// this encoding, so a tag never changes its meaning.
func (c *coder) reply(r *space.Reply) {
	c.boolean(1, &r.Found)
	c.tuple(2, &r.Tuple)
	c.tuples(3, &r.Tuples)
	c.count(4, &r.Count)
	messages(c, 5, &r.Infos, (*coder).info)
	messages(c, 6, &r.Events, (*coder).event)
	c.count(7, &r.Missed)
	integer(c, 8, &r.Subscription)
}

// info lists the fields of the description of a space.
func (c *coder) info(i *space.Info) {
	name(c, 1, &i.Name)
	message(c, 2, &i.Options, (*coder).options)
	c.count(3, &i.Visible)
	c.count(4, &i.Held)
}

// event lists the fields of a change.
func (c *coder) event(e *space.Event) {
	name(c, 1, &e.Change)
	name(c, 2, &e.Space)
	name(c, 3, &e.Procedure)
	c.tuple(4, &e.Tuple)
}

// AppendReply appends a reply's body to buf. Its tuples must be valid, as an
// engine's are.
func AppendReply(buf []byte, r space.Reply) []byte {
	c := coder{out: buf}
	c.reply(&r)
	return c.out
}

// DecodeReply decodes the body of a reply. It fails with fault.ErrInvalid for a malformed one, and with
// fault.ErrTooLarge for an overlong name.
func DecodeReply(data []byte) (space.Reply, error) {
	var r space.Reply
	c := reader(data)
	for c.more() {
		c.reply(&r)
	}
	if c.err != nil {
		return space.Reply{}, fmt.Errorf("reply: %w", c.err)
	}
	return r, nil
}
