package gospace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "leasehold/gospace"
)

// sum adds the last fields.
func sum(ts ...Intertuple) Intertuple {
	total := 0
	for _, t := range ts {
		total += t.GetFieldAt(t.Length() - 1).(int)
	}
	result := CreateTuple("sum", total)
	return &result
}

func TestAggregations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		call  func(*Space, interface{}, ...interface{}) (Tuple, error)
		after []Tuple
	}{
		{"PutAgg", (*Space).PutAgg, []Tuple{CreateTuple("sum", 6)}},
		{"GetAgg", (*Space).GetAgg, []Tuple{}},
		{"QueryAgg", (*Space).QueryAgg, []Tuple{CreateTuple("n", 1), CreateTuple("n", 2), CreateTuple("n", 3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := local(t)
			for i := 1; i <= 3; i++ {
				_, err := s.Put("n", i)
				require.NoError(t, err)
			}
			found, err := c.call(&s, sum, "n", new(int))
			require.NoError(t, err)
			require.Equal(t, CreateTuple("sum", 6), found)
			all, err := s.QueryAll(new(string), new(int))
			require.NoError(t, err)
			require.Equal(t, c.after, all)
			found, err = s.QueryAgg(sum, "none", new(int))
			require.NoError(t, err)
			require.Equal(t, CreateTuple("sum", 0), found)
		})
	}
}

func TestAFailedAggregationPutsBackWhatItTook(t *testing.T) {
	t.Parallel()
	s := local(t)
	_, err := s.Put("n", 1)
	require.NoError(t, err)
	for _, f := range []any{
		func(...Intertuple) Intertuple { panic("broken") },
		func(...Intertuple) Intertuple { return nil },
		func(...Intertuple) Intertuple { return (*Tuple)(nil) },
		func(Tuple) Tuple { return Tuple{} },
		nil,
	} {
		_, err = s.GetAgg(f, "n", new(int))
		require.Error(t, err)
		all, err := s.QueryAll("n", new(int))
		require.NoError(t, err)
		require.Len(t, all, 1)
	}
}

// permitting returns a policy that permits GetAgg and PutAgg of sum over ("n", int).
func permitting(trs Transformations) *ComposablePolicy {
	var s Space
	tp := CreateTemplate(sum, "n", new(int))
	return NewComposablePolicy(
		NewAggregationPolicy(NewLabel("red"), NewAggregationRule(*NewAction(s.GetAgg, tp.Fields()...), trs)),
		NewAggregationPolicy(NewLabel("blue"), NewAggregationRule(*NewAction(s.PutAgg, tp.Fields()...), trs)),
	)
}

func TestAPolicyPermitsAnActionOnItsLabel(t *testing.T) {
	t.Parallel()
	s := local(t, permitting(Transformations{}))
	red, green := NewLabels(NewLabel("red")), NewLabels(NewLabel("green"))
	for _, fields := range [][]any{{"n", 1}, {red, "n", 2}, {green, "n", 4}} {
		_, err := s.Put(fields...)
		require.NoError(t, err)
	}
	found, err := s.QueryAgg(sum, "n", new(int))
	require.NoError(t, err)
	require.Equal(t, CreateTuple(nil), found, "the action is not permitted")

	found, err = s.GetAgg(sum, "n", new(int))
	require.NoError(t, err)
	require.Equal(t, `({|red|}, "sum", 3)`, found.String())
	_, err = s.GetP(green, "n", 4)
	require.NoError(t, err, "a match with another label is put back")
	size, err := s.Size()
	require.NoError(t, err)
	require.Zero(t, size)

	_, err = s.PutAgg(sum, "n", new(int))
	require.NoError(t, err)
	_, err = s.GetP(NewLabels(NewLabel("blue")), "sum", 0)
	require.NoError(t, err)
}

func TestTransformationsChangeTemplateMatchesAndResult(t *testing.T) {
	t.Parallel()
	template := NewTransformation(func(interface{}) Template { return CreateTemplate("m", new(int)) })
	match := NewTransformation(func(fields interface{}) Intertuple {
		f := fields.([]interface{})
		lt := NewLabelledTuple(f[0], f[1], f[2].(int)*10)
		return &lt
	})
	result := NewTransformation(func(fields interface{}) Intertuple {
		r := CreateTuple("total", fields.([]interface{})[1])
		return &r
	})
	require.Nil(t, NewTransformations(&template))
	s := local(t, permitting(*NewTransformations(&template, &match, &result)))
	for _, fields := range [][]any{{"n", 1}, {"m", 2}, {"m", 3}} {
		_, err := s.Put(fields...)
		require.NoError(t, err)
	}
	found, err := s.GetAgg(sum, "n", new(int))
	require.NoError(t, err)
	require.Equal(t, `({|red|}, "total", 50)`, found.String())
}

func TestPoliciesAreFoundByActionAndLabel(t *testing.T) {
	t.Parallel()
	p := permitting(Transformations{})
	var s Space
	action := NewAction(s.GetAgg, sum, "n", new(int))
	require.Equal(t, "red", p.Find(action).ID())
	require.Nil(t, p.Find(NewAction(s.GetAgg, sum, "n", new(string))))
	require.Equal(t, "GetAgg", action.Operator())
	red := p.Retrieve(NewLabel("red"))
	require.NotNil(t, red)
	require.False(t, p.Add(*red))
	require.True(t, p.Delete(NewLabel("red")))
	require.False(t, p.Delete(NewLabel("red")))
	require.Nil(t, p.Find(action))
	require.True(t, p.Add(*red))
}

func TestContainersArePrinted(t *testing.T) {
	t.Parallel()
	labels := NewLabels(NewLabel("red"), NewLabel("blue"))
	require.Equal(t, `("a", 1, nil)`, CreateTuple("a", 1, nil).String())
	require.Equal(t, `("x", int)`, CreateTemplate("x", new(int)).String())
	require.Equal(t, `{|blue|, |red|}`, labels.String())
	require.Equal(t, `({|red|} : "x", 1)`, NewLabelledTuple(NewLabels(NewLabel("red")), "x", 1).String())
	require.Panics(t, func() { NewLabelledTuple("x", labels) })
}

func TestTemplatesAreCompared(t *testing.T) {
	t.Parallel()
	a, b, c := CreateTemplate("x", new(int)), CreateTemplate("x", new(int)), CreateTemplate("x", 1)
	require.True(t, a.Equal(&b))
	require.False(t, a.Equal(&c))
	require.True(t, a.Match(&c))
	exact, values, formals := a.ExactMatch(&c)
	require.False(t, exact)
	require.Equal(t, []uint{1, 0}, []uint{values, formals})
	zero := a.NewTuple()
	require.Equal(t, CreateTuple("x", 0), zero)
	require.True(t, zero.Match(a))
}

func TestLabelsAreSets(t *testing.T) {
	t.Parallel()
	ab, bc := NewLabels(NewLabel("b"), NewLabel("a")), NewLabels(NewLabel("b"), NewLabel("c"))
	both, ok := ab.Intersect(&bc)
	require.True(t, ok)
	require.Equal(t, []string{"b"}, both.Labelling())
	require.False(t, ab.Add(NewLabel("a")))
	require.True(t, ab.Delete("a"))
	require.Nil(t, ab.Retrieve("a"))
	require.Len(t, ab.Set(), 1)
}
