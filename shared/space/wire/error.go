package wire

import (
	"context"
	"errors"
	"fmt"

	"leasehold/shared/fault"
)

// The fields of an error.
const (
	errorCode = 1 // each kind that it is
	errorText = 2
)

// maxText bounds the text of an error in bytes; AppendError cuts off the rest.
const maxText = 64 << 10

// contextErrors are the errors of package context, which travel as kinds of their own.
var contextErrors = []struct {
	kind error
	code string
}{
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "deadline_exceeded"},
}

// AppendError appends an error's body to buf: the code of each kind that it is,
// and its text.
func AppendError(buf []byte, err error) []byte {
	b := body(buf)
	for _, row := range fault.Table {
		if row.Kind != nil && errors.Is(err, row.Kind) {
			b.text(errorCode, row.Code)
		}
	}
	for _, c := range contextErrors {
		if errors.Is(err, c.kind) {
			b.text(errorCode, c.code)
		}
	}
	text := err.Error()
	b.text(errorText, text[:min(len(text), maxText)])
	return b
}

// DecodeError decodes the body of an error into failure: an error with the same text
// and of the same kinds. It ignores codes that this version does not know.
func DecodeError(data []byte) (failure, err error) {
	f := &carried{}
	err = fields(data, func(tag uint64, content []byte) error {
		switch tag {
		case errorCode:
			if kind := kindOf(string(content)); kind != nil && len(f.kinds) < len(fault.Table)+len(contextErrors) {
				f.kinds = append(f.kinds, kind)
			}
		case errorText:
			if len(content) > maxText {
				return fmt.Errorf("a text of %d bytes, at most %d: %w", len(content), maxText, fault.ErrTooLarge)
			}
			f.text = string(content)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("error: %w", err)
	}
	return f, nil
}

func kindOf(code string) error {
	for _, c := range contextErrors {
		if c.code == code {
			return c.kind
		}
	}
	return fault.FromCode(code)
}

// carried is an error that arrived over a connection.
type carried struct {
	text  string
	kinds []error
}

func (c *carried) Error() string   { return c.text }
func (c *carried) Unwrap() []error { return c.kinds }
