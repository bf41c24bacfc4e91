package client

import (
	"context"
	"crypto/rand"
	"strings"
)

type operationKey struct{}

// WithOperation returns a context whose next request that creates or ends tasks or attempts, or changes an action
// or a limit, has this operation id: 1 to 128 visible characters of ASCII. If the request is repeated with its id
// within 10 minutes, also by another process, it has no second effect; a different request with the same id fails
// with fault.ErrKeyReused. An empty id leaves ctx as it is.
func WithOperation(ctx context.Context, id string) context.Context {
	if id == "" {
		return ctx
	}
	return context.WithValue(ctx, operationKey{}, id)
}

// operationOf returns the operation id of a context, or a new one.
func operationOf(ctx context.Context) string {
	if id, ok := ctx.Value(operationKey{}).(string); ok {
		return id
	}
	return rand.Text()
}

// isKey reports whether an id can be the header of a request.
func isKey(id string) bool {
	return len(id) <= 128 && !strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' })
}
