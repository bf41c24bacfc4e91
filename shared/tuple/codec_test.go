package tuple_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/tuple"
)

func TestDecodeReturnsWhatWasAppended(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		u := tuples(4).Draw(rt, "tuple")
		data := u.Append([]byte("x"))
		require.Len(rt, data, 1+u.Size())
		back, rest, err := tuple.Decode(append(data[1:], "rest"...))
		require.NoError(rt, err)
		require.Equal(rt, "rest", string(rest))
		require.True(rt, u.Equal(back), "%v became %v", u, back)

		p := template(rt, u)
		pattern, rest, err := tuple.DecodeTemplate(p.Append(nil))
		require.NoError(rt, err)
		require.Empty(rt, rest)
		require.Equal(rt, p.Matches(u), pattern.Matches(u))
		require.Equal(rt, p.String(), pattern.String())
	})
}

func TestWhatIsValidCanBeDecoded(t *testing.T) {
	t.Parallel()
	many := tuple.New() // of the longest integers, which a guess of their size would let through
	for range 40 {
		level := tuple.New()
		for range 57 {
			inner := make(tuple.Tuple, 64)
			for i := range inner {
				inner[i] = int64(math.MinInt64)
			}
			level = append(level, inner)
		}
		many = append(many, level)
		_, _, err := tuple.Decode(many.Append(nil))
		require.Equal(t, many.Validate() == nil, err == nil)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		err  error
	}{
		"nothing":            {nil, tuple.ErrFormat},
		"a huge arity":       {[]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, tuple.ErrBounds},
		"more fields":        {[]byte{2, 0}, tuple.ErrFormat},
		"an unknown tag":     {[]byte{1, 99}, tuple.ErrFormat},
		"a long string":      {[]byte{1, 8, 200, 'x'}, tuple.ErrFormat},
		"an int32 of 2³¹":    {[]byte{1, 4, 0x80, 0x80, 0x80, 0x80, 0x10}, tuple.ErrFormat},
		"a formal in tuples": {tuple.Match(tuple.AnyBool).Append(nil), tuple.ErrType},
		"half a float":       {[]byte{1, 7, 0, 0}, tuple.ErrFormat},
		"too deep":           {nested(tuple.MaxDepth + 1).Append(nil), tuple.ErrBounds},
		"too large":          {tuple.New(string(make([]byte, tuple.MaxBytes))).Append(nil), tuple.ErrBounds},
	} {
		_, _, err := tuple.Decode(c.data)
		require.ErrorIs(t, err, c.err, name)
	}
	_, _, err := tuple.DecodeTemplate(tuple.Match(tuple.New(tuple.AnyBool)).Append(nil))
	require.ErrorIs(t, err, tuple.ErrType)
	_, _, err = tuple.DecodeTemplate(tuple.Match(tuple.Formal{Type: "no"}).Append(nil))
	require.ErrorIs(t, err, tuple.ErrType)
}

func FuzzDecode(f *testing.F) {
	f.Add(tuple.New("task", int64(1), 2, int32(3), 1.5, float32(2), true, nil, []byte{1}, tuple.New("x"), tuple.Opaque{Name: "n", JSON: "1"}).Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		u, rest, err := tuple.Decode(data)
		if err != nil {
			return
		}
		require.NoError(t, u.Validate())
		require.True(t, bytes.HasSuffix(data, rest))
		again, _, err := tuple.Decode(u.Append(nil))
		require.NoError(t, err)
		require.True(t, u.Equal(again))
		require.True(t, u.Exactly().Matches(again))
	})
}

func FuzzDecodeTemplate(f *testing.F) {
	f.Add(tuple.Match("task", tuple.AnyInt64, tuple.Formal{Type: "opaque:n"}, tuple.New("x")).Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, _, err := tuple.DecodeTemplate(data)
		if err != nil {
			return
		}
		require.NoError(t, p.Validate())
		again, _, err := tuple.DecodeTemplate(p.Append(nil))
		require.NoError(t, err)
		require.Equal(t, p.String(), again.String())
	})
}

func BenchmarkAppendDecode(b *testing.B) {
	u := tuple.New("task", "index", "5f3a9c01", int64(3), string(make([]byte, 150)))
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tuple.Decode(u.Append(buf)); err != nil {
			b.Fatal(err)
		}
	}
}
