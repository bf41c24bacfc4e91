package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leasehold/shared/fault"
)

// maxText bounds the text of an error in bytes; AppendError cuts off the rest.
const maxText = 64 << 10

// errorKinds are the kinds of error that travel: the kinds of package fault, and the errors of package context.
var errorKinds = slices.Concat(fault.Table, []fault.Row{
	{Kind: context.Canceled, Code: "canceled"},
	{Kind: context.DeadlineExceeded, Code: "deadline_exceeded"},
})

// The fields of an error.
const (
	errorCode = 1 // each kind that it is
	errorText = 2
)

// AppendError appends an error's body to buf: the code of each kind that it is, and its text,
// cut to maxText bytes.
func AppendError(buf []byte, err error) []byte {
	c := coder{out: buf}
	for _, row := range errorKinds {
		if row.Kind != nil && errors.Is(err, row.Kind) {
			c.write(errorCode, []byte(row.Code))
		}
	}
	message := err.Error()
	message = message[:min(len(message), maxText)]
	text(&c, errorText, &message, maxText)
	return c.out
}

// DecodeError decodes the body of an error into failure: an error with the same text and of the
// same kinds. It ignores codes that this version does not know, and keeps at most as many kinds as
// there are, however many the body has. err is why the body cannot be decoded, fault.ErrInvalid or
// fault.ErrTooLarge; failure is nil then.
func DecodeError(data []byte) (failure, err error) {
	f := &carried{}
	c := reader(data)
	for c.more() {
		text(&c, errorText, &f.text, maxText)
		for c.is(errorCode) {
			for _, row := range errorKinds {
				if row.Kind != nil && row.Code == string(c.content) && len(f.kinds) < len(errorKinds) {
					f.kinds = append(f.kinds, row.Kind)
				}
			}
			c.done(nil)
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("error: %w", c.err)
	}
	return f, nil
}

// carried is an error that arrived over a connection.
type carried struct {
	text  string
	kinds []error
}

func (c *carried) Error() string   { return c.text }
func (c *carried) Unwrap() []error { return c.kinds }
