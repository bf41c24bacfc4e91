package gospace_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/gospace"
	"leasehold/gospace/container"
	"leasehold/gospace/function"
	"leasehold/gospace/policy"
	"leasehold/gospace/protocol"
	"leasehold/gospace/space"
)

// TestTheSubpackagesHaveTheNamesOfGoSpace is a program as students write them against goSpace's
// packages, with other import lines.
func TestTheSubpackagesHaveTheNamesOfGoSpace(t *testing.T) {
	t.Parallel()
	s := space.NewSpace("subpackages")
	defer func() { require.NoError(t, s.Close()) }()
	var all interface {
		space.Interspace
		space.Interstar
		space.Interstellar
		space.Intercellestial
	} = &s
	var frame gospace.SpaceFrame = &s
	_, err := frame.Put("milk", 2)
	require.NoError(t, err)

	var n int
	raw, state := all.RawQuery("milk", &n)
	require.Equal(t, true, state)
	tuple := raw.(container.Tuple)
	require.Equal(t, container.NewTuple("milk", 2), tuple)
	require.NoError(t, space.NewSpaceError(&s, tuple, state))
	require.Equal(t, "operation on this space succeeded", s.InterpretError(state))
	list, state := all.RawQueryAll("milk", &n)
	require.Len(t, list, 1)
	require.Equal(t, true, state)
	size, _ := s.RawSize()
	require.Equal(t, 1, size)

	_, state = all.RawGetP("bread", &n)
	require.Equal(t, false, state)
	err = space.NewSpaceError(&s, container.NewTemplate("bread", &n), state)
	var failed space.SpaceError
	require.True(t, errors.As(err, &failed))
	require.False(t, failed.Operation())
	require.ErrorContains(t, err, `operation on this space failed: ("bread", int)`)
	require.Error(t, space.NewSpaceError(nil, nil, nil))

	sum := func(ts ...container.Intertuple) container.Intertuple {
		total := 0
		for _, x := range ts {
			total += x.GetFieldAt(1).(int)
		}
		r := container.NewTuple("milk", total)
		return &r
	}
	result, state := all.RawGetAgg(sum, "milk", &n)
	require.Equal(t, true, state)
	require.Equal(t, container.NewTuple("milk", 2), result)

	label := container.NewLabel("red")
	rule := policy.NewAggregationRule(*policy.NewAction(s.GetAgg, "milk", &n), policy.Transformations{})
	composable := policy.NewComposable(policy.NewAggregation(label, rule))
	require.NotNil(t, composable.Retrieve(label))
	require.Equal(t, container.NewTuple("x", 7), container.CreateIntrinsicTuple("x", pointerTo(7)))

	m := protocol.CreateMessage(protocol.GetPRequest, tuple)
	require.Equal(t, "GETP_REQUEST", m.GetOperation())
	require.Equal(t, "localhost:31415", protocol.CreatePointToPoint("s", "localhost", "31415").GetAddress())

	require.True(t, function.IsFunc(pointerTo))
	require.Equal(t, "leasehold/gospace_test.pointerTo", function.Name(pointerTo))
	require.Equal(t, "f: (int, ...string) -> (bool)", function.Signature(func(int, ...string) bool { return false }, "f"))
	r := function.NewRegistry()
	require.True(t, function.IsFunc(*r.Decode(*r.Encode(pointerTo))))
	require.Nil(t, r.Decode("absent"))
	require.True(t, r.Check(pointerTo))
	require.False(t, r.Register(pointerTo))
	require.True(t, r.Unregister(pointerTo))
	require.Equal(t, "TestTheSubpackagesHaveTheNamesOfGoSpace", function.ExtractCallerInfo(1).Func)
	require.True(t, function.GlobalRegistry.Register(pointerTo))
}

func pointerTo(n int) *int { return &n }
