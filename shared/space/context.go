package space

import (
	"context"
	"fmt"
)

// ContextError returns the error of a context that has ended, joined with its cause if the cause is another error.
// Every Conn returns it, so that a call ends with the same error wherever its engine is.
func ContextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}
