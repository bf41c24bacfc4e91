package tuple_test

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/tuple"
)

var floats = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1, -1.5, math.Float64frombits(0x7ff8000000000123)}

func Example() {
	t := tuple.New("task", "index", int64(7))
	p := tuple.Match("task", tuple.AnyString, tuple.AnyInt64)
	fmt.Println(t, p, p.Matches(t))
	// Output: ("task", "index", 7) ("task", ?string, ?int64) true
}

func TestFieldsEqualByTypeAndValue(t *testing.T) {
	t.Parallel()
	distinct := []any{
		nil, false, true, int(1), int32(1), int64(1), float32(1), float64(1), "1", []byte("1"),
		tuple.New(int(1)), tuple.New(int32(1)), tuple.New(), tuple.Opaque{Name: "n", JSON: "1"}, tuple.Opaque{Name: "n1"},
		int64(0), int32(0), 0, 0.0, "", []byte{},
	}
	for i, a := range distinct {
		for j, b := range distinct {
			require.Equal(t, i == j, tuple.New(a).Equal(tuple.New(b)), "%T %v and %T %v", a, a, b, b)
			require.Equal(t, i == j, tuple.Match(a).Matches(tuple.New(b)))
		}
	}
}

func TestWhatWasPutCanBeFound(t *testing.T) {
	t.Parallel()
	nan, zero := math.NaN(), math.Copysign(0, -1)
	for _, pair := range [][2]any{
		{nan, math.Float64frombits(0x7ff8000000000123)}, {0.0, zero},
		{float32(nan), float32(nan)}, {float32(0), float32(zero)},
		{[]byte(nil), []byte{}}, {tuple.Tuple(nil), tuple.Tuple{}},
		{tuple.New(nan, zero), tuple.New(nan, 0.0)},
	} {
		a, b := tuple.New(pair[0]), tuple.New(pair[1])
		require.True(t, a.Equal(b), "%v", a)
		require.True(t, a.Exactly().Matches(b), "%v", a)
		seed := maphash.MakeSeed()
		require.Equal(t, a.Hash(seed, 1), b.Hash(seed, 1), "%v", a)
	}
}

func TestFormalsMatchByType(t *testing.T) {
	t.Parallel()
	for _, f := range []any{nil, true, 1, int32(1), int64(1), float32(1), 1.0, "s", []byte{1}, tuple.New(), tuple.Opaque{Name: "n"}} {
		for _, typ := range append([]tuple.Type{tuple.OpaqueType("n"), tuple.OpaqueType("m")}, tuple.Types...) {
			require.Equal(t, tuple.TypeOf(f) == typ, tuple.Match(tuple.Formal{Type: typ}).Matches(tuple.New(f)), "?%s and %v", typ, f)
		}
	}
	require.False(t, tuple.Match().Matches(tuple.New(1)))
	require.True(t, tuple.Match().Matches(tuple.New()))
}

func TestTemplateMatchesWhatANaiveOneMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		u := tuples(3).Draw(rt, "tuple")
		p := template(rt, u)
		naive := len(p) == len(u)
		for i := 0; naive && i < len(p); i++ {
			formal, ok := p[i].(tuple.Formal)
			naive = ok && formal.Type == tuple.TypeOf(u[i]) || !ok && tuple.New(p[i]).Equal(tuple.New(u[i]))
		}
		require.Equal(rt, naive, p.Matches(u))
		if !naive {
			return
		}
		require.Equal(rt, u.Signature(), p.Signature(), "a match has the template's signature")
		seed := maphash.MakeSeed()
		require.Equal(rt, p.Hash(seed), u.Hash(seed, p.Shape()), "a match has the template's hash")
	})
}

func TestSignaturesOfDifferentTypesDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := tuples(2).Draw(rt, "a"), tuples(2).Draw(rt, "b")
		same := len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = tuple.TypeOf(a[i]) == tuple.TypeOf(b[i])
		}
		require.Equal(rt, same, a.Signature() == b.Signature())
	})
}

func TestEqualTuplesHashAlike(t *testing.T) {
	t.Parallel()
	seed := maphash.MakeSeed()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := tuples(2).Draw(rt, "a"), tuples(2).Draw(rt, "b")
		shape := tuple.Shape(rapid.Uint64().Draw(rt, "shape"))
		if a.Equal(b) {
			require.Equal(rt, a.Hash(seed, shape), b.Hash(seed, shape))
		}
	})
}

func TestHashesDependOnTheSeed(t *testing.T) {
	t.Parallel()
	u := tuple.New(int64(1), int64(2))
	require.NotEqual(t, u.Hash(maphash.MakeSeed(), 3), u.Hash(maphash.MakeSeed(), 3))
}

func TestCloneSharesNothingMutable(t *testing.T) {
	t.Parallel()
	u := tuple.New([]byte("a"), tuple.New([]byte("b")))
	c := u.Clone()
	u[0].([]byte)[0] = 'x'
	u[1].(tuple.Tuple)[0].([]byte)[0] = 'x'
	u[1] = nil
	require.Equal(t, tuple.New([]byte("a"), tuple.New([]byte("b"))), c)
	require.Nil(t, tuple.Tuple(nil).Clone())
	require.Nil(t, tuple.Template(nil).Clone())
}

func TestAccessorsReturnZeroForAnotherType(t *testing.T) {
	t.Parallel()
	u := tuple.New("s", int64(7), true)
	require.Equal(t, "s", u.Str(0))
	require.Equal(t, int64(7), u.Int64(1))
	require.True(t, u.Bool(2))
	require.Empty(t, u.Str(1))
	require.Zero(t, u.Int64(-1))
	require.False(t, u.Bool(3))
}

func TestString(t *testing.T) {
	t.Parallel()
	u := tuple.New(nil, true, 1, int32(2), int64(3), float32(0.5), 4.0, 1e30, "a\nb", []byte{0xff}, tuple.New("x"), tuple.Opaque{Name: "n", JSON: "{}"})
	require.Equal(t, `(nil, true, int:1, int32:2, 3, float32:0.5, 4.0, 1e+30, "a\nb", bytes:ff, ("x"), opaque:n:{})`, u.String())
	require.Equal(t, `("a", ?bytes)`, tuple.Match("a", tuple.Formal{Type: tuple.Bytes}).String())
}

// nested returns a tuple of that many levels.
func nested(levels int) tuple.Tuple {
	u := tuple.New()
	for range levels - 1 {
		u = tuple.New(u)
	}
	return u
}

func TestValidate(t *testing.T) {
	t.Parallel()
	wide := make(tuple.Tuple, tuple.MaxArity+1)
	full := strings.Repeat("x", tuple.MaxBytes-5) // the count, a tag, a length of three
	for name, c := range map[string]struct {
		tuple tuple.Tuple
		err   error
	}{
		"widest":      {wide[1:], nil},
		"too wide":    {wide, tuple.ErrBounds},
		"deepest":     {nested(tuple.MaxDepth), nil},
		"too deep":    {nested(tuple.MaxDepth + 1), tuple.ErrBounds},
		"largest":     {tuple.New(full), nil},
		"too large":   {tuple.New(full, nil), tuple.ErrBounds},
		"uint":        {tuple.New(uint(1)), tuple.ErrType},
		"map":         {tuple.New(map[string]int{}), tuple.ErrType},
		"formal":      {tuple.New(tuple.AnyString), tuple.ErrType},
		"slice":       {tuple.New([]any{1}), tuple.ErrType},
		"nested type": {tuple.New(tuple.New(int8(1))), tuple.ErrType},
	} {
		require.ErrorIs(t, c.tuple.Validate(), c.err, name)
	}
	require.NoError(t, tuple.Match(tuple.AnyBool, tuple.Formal{Type: "opaque:x"}).Validate())
	require.ErrorIs(t, tuple.Match(tuple.Formal{Type: "strnig"}).Validate(), tuple.ErrType)
	require.ErrorIs(t, tuple.Match(tuple.New(tuple.AnyBool)).Validate(), tuple.ErrType, "no formals within a nested tuple")
}
