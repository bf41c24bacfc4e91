package page

import (
	"context"
	"errors"
	"fmt"
	"io"

	"leasehold/tup4fun/conform"
)

// MaxTrace bounds the bytes of a trace.
const MaxTrace = 64 << 20

// conformance checks a trace against all models of the system. A text that is not a trace is an error.
func (p *Page) conformance(ctx context.Context, body io.Reader) (any, error) {
	return p.limited(ctx, func(ctx context.Context) (any, error) {
		system, err := conform.LoadSystem(conform.Options{})
		if err != nil {
			return nil, err
		}
		reports, err := system.Check(ctx, "trace", body)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the time is over (%s); leasehold tup4fun conform has no limit", p.limits.Time)
		}
		return reports, err
	})
}
