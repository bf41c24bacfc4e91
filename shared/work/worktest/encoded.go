package worktest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/tuple"
)

// Encoded connects in process, but carries every tuple in its binary form both
// ways, as a network does, so that nothing relies on sharing memory or on an answer
// that no frame could carry.
func Encoded(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository {
	t.Helper()
	c, err := e.Connect(t.Context(), id, ttl)
	require.NoError(t, err)
	return space.Over(encoded{c})
}

type encoded struct{ space.Conn }

// Do implements space.Conn.
func (c encoded) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	var err error
	if r.Tuple, err = carried(r.Tuple); err != nil {
		return space.Reply{}, err
	}
	reply, err := c.Conn.Do(ctx, r)
	if err != nil {
		return space.Reply{}, err
	}
	if reply.Tuple, err = carried(reply.Tuple); err != nil {
		return space.Reply{}, err
	}
	for i := range reply.Tuples {
		if reply.Tuples[i], err = carried(reply.Tuples[i]); err != nil {
			return space.Reply{}, err
		}
	}
	return reply, nil
}

func carried(t tuple.Tuple) (tuple.Tuple, error) {
	if t == nil {
		return nil, nil
	}
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("worktest: cannot be carried: %w", err)
	}
	there, _, err := tuple.Decode(t.Append(nil))
	return there, err
}
