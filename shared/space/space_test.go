package space_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestJoinRefusesTwoProceduresOfOneName(t *testing.T) {
	t.Parallel()
	a, b := space.Procedures{"a": nil}, space.Procedures{"b": nil}
	require.Len(t, space.Join(a, b), 2)
	require.Panics(t, func() { space.Join(a, b, a) })
}

func TestExpiredSurvivesItsArguments(t *testing.T) {
	t.Parallel()
	x := space.Expired{Ref: 7, Cause: space.Lost, Holder: "worker-1", Beside: 3}
	back, err := space.ParseExpired(x.Args())
	require.NoError(t, err)
	require.Equal(t, x, back)
	for _, args := range []tuple.Tuple{nil, tuple.New("x", "due", ""), tuple.New(int64(1), "due")} {
		_, err := space.ParseExpired(args)
		require.ErrorIs(t, err, fault.ErrInvalid)
	}
}

func TestVerbsHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for v := space.VerbCreate; v <= space.VerbQueryUpTo; v++ {
		require.NotEmpty(t, v.String())
		require.False(t, seen[v.String()])
		seen[v.String()] = true
	}
	require.Empty(t, (space.VerbQueryUpTo + 1).String())
}

func TestNormalizeFillsInDefaults(t *testing.T) {
	t.Parallel()
	o, err := space.Options{}.Normalize()
	require.NoError(t, err)
	require.Equal(t, space.Options{Kind: space.Sequential, Overflow: space.Block, Capacity: space.DefaultCapacity}, o)
	again, err := o.Normalize()
	require.NoError(t, err)
	require.Equal(t, o, again)
}

func TestOptionsArePrintedForPeople(t *testing.T) {
	t.Parallel()
	require.Equal(t, "stack, capacity 10, block", space.Options{Kind: space.Stack, Capacity: 10, Overflow: space.Block}.String())
	require.Equal(t, "ordered by field 2, capacity 1, drop_oldest, volatile",
		space.Options{Kind: space.Ordered, OrderBy: 2, Capacity: 1, Overflow: space.DropOldest, Volatile: true}.String())
}

func TestARequestIsNamedByItsVerbAndTarget(t *testing.T) {
	for want, r := range map[string]space.Request{
		"put task":        {Verb: space.VerbPut, Space: "task"},
		"call task.claim": {Verb: space.VerbCall, Procedure: "task.claim"},
		"receive":         {Verb: space.VerbReceive},
	} {
		require.Equal(t, want, r.String())
	}
}
