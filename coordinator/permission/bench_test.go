package permission_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/space"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// argsOf is a repository that keeps the arguments of a call.
type argsOf struct {
	space.Repository
	args *tuple.Tuple
}

func (a argsOf) Call(_ context.Context, _ space.OpID, _ string, args tuple.Tuple) (tuple.Tuple, error) {
	*a.args = args
	return nil, nil
}

// BenchmarkCheck measures the decision about one request.
//
//	go test ./coordinator/permission -run '^$' -bench Check
func BenchmarkCheck(b *testing.B) {
	var ops tuple.Tuple
	_, _ = transaction.Client{Repo: argsOf{args: &ops}}.Run(b.Context(), transaction.Put("chess", tuple.New(1), 0), transaction.Get("chess", tuple.Match(tuple.AnyInt64))) // there is no answer
	require.NotEmpty(b, ops)
	limited := of(access.Producer)
	limited.Spaces = []string{"go-", "poker-", "chess"}
	for name, x := range map[string]struct {
		by      access.Identity
		request space.Request
	}{
		"claim":       {of(access.Worker), call("task.next", "a")},
		"put":         {limited, space.Request{Verb: space.VerbPut, Space: "chess-moves"}},
		"keyed":       {of(access.Producer), keyed("task.create", tuple.New("a"))},
		"look":        {of(access.Reader), call("browse.look", "status")},
		"transaction": {limited, space.Request{Verb: space.VerbCall, Procedure: "transaction.run", Args: ops}},
	} {
		b.Run(name, func(b *testing.B) {
			require.NoError(b, permission.Check(x.by, "session-1", x.request))
			for b.Loop() {
				_ = permission.Check(x.by, "session-1", x.request)
			}
		})
	}
}
