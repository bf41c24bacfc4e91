package gob_test

import (
	"bytes"
	stdgob "encoding/gob"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/gospace/gob"
	"leasehold/shared/fault"
)

type node struct {
	Name     string
	Children []*node
	Any      any
	Numbers  map[string][]float32
	Array    [3]int16
	Complex  complex64
	Bytes    []byte
	At       time.Time
	Flag     bool
	Count    uint64
}

// encode returns the stream that encoding/gob writes for v.
func encode(t testing.TB, v any) []byte {
	var b bytes.Buffer
	require.NoError(t, stdgob.NewEncoder(&b).Encode(v))
	return b.Bytes()
}

// tree returns a value with a field of each kind, nested pointers, and values of interface
// types.
func tree() node {
	return node{Name: "a", Children: []*node{{Name: "b", Any: "x"}, {Any: []int{1, -2}, Count: 1 << 63}}, Any: node{Name: "c", Flag: true},
		Numbers: map[string][]float32{"x": {1.5}, "y": nil, "z": {-1}}, Array: [3]int16{-1, 0, 1}, Complex: complex(1, -2), Bytes: []byte("b"),
		At: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
}

// copyOf returns a stream with a copy of the value of another.
func copyOf(stream []byte) ([]byte, error) {
	r, w := gob.NewReader(bytes.NewReader(stream), 1<<20, nil), gob.NewWriter()
	id := r.Value()
	value, written := gob.Copy(nil, w, r, id)
	return w.Stream(written, value), r.Err()
}

func TestACopyIsTheSameValue(t *testing.T) {
	t.Parallel()
	stdgob.Register(node{})
	stdgob.Register([]int{})
	want := tree()
	copied, err := copyOf(encode(t, want))
	require.NoError(t, err)
	var got node
	require.NoError(t, stdgob.NewDecoder(bytes.NewReader(copied)).Decode(&got))
	require.Equal(t, want, got)
	for _, v := range []any{1, -1, "", "x", true, 2.5, uint8(3), []string{"a", ""}, map[int]bool{1: true, 2: false}, [2]bool{}, complex(0, 1), struct{ A int }{}} {
		copied, err := copyOf(encode(t, v))
		require.NoError(t, err, "%T", v)
		got := reflect.New(reflect.TypeOf(v))
		require.NoError(t, stdgob.NewDecoder(bytes.NewReader(copied)).DecodeValue(got), "%T", v)
		require.Equal(t, v, got.Elem().Interface())
	}
}

func TestCopiesOfEqualValuesAreEqual(t *testing.T) {
	t.Parallel()
	large := map[string]int{}
	for i := range 100 {
		large[fmt.Sprint(i)] = i
	}
	first, err := copyOf(encode(t, large))
	require.NoError(t, err)
	for range 10 { // the order of a map is random
		again, err := copyOf(encode(t, large))
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	again, err := copyOf(first)
	require.NoError(t, err)
	require.Equal(t, first, again)
}

// Types are defined 1,001 times in a stream by changing the number in one definition. "text" is
// read as a length, so its end comes too early.
func TestMalformedStreamsAreRefused(t *testing.T) {
	t.Parallel()
	var types bytes.Buffer
	for id := int64(65); id < 65+1001; id++ {
		w := gob.NewWriter()
		_ = w.Define(gob.Type{Kind: gob.Slice, Elem: 2})
		definition := w.Stream(0, nil)
		definition = definition[:len(definition)-2]                               // without the value
		number := gob.AppendInt(nil, -id)                                         // in place of -65
		content := append(number, definition[1+len(gob.AppendInt(nil, -65)):]...) // after the length
		types.Write(append(gob.AppendUint(nil, uint64(len(content))), content...))
	}
	deep := gob.NewWriter()
	id := deep.Define(gob.Type{Kind: gob.Slice, Elem: 65})
	for name, c := range map[string]struct {
		stream []byte
		want   error
	}{
		"nothing":                  {nil, io.EOF},
		"a length of 2^62":         {[]byte{0xf8, 0x40, 0, 0, 0, 0, 0, 0, 0}, fault.ErrTooLarge},
		"a length of 9 bytes":      {[]byte{0xf7, 1, 1, 1, 1, 1, 1, 1, 1, 1}, fault.ErrInvalid},
		"half a message":           {[]byte{9, 4, 0}, io.ErrUnexpectedEOF},
		"an empty message":         {[]byte{0}, fault.ErrInvalid},
		"an undefined type":        {[]byte{3, 0xfe, 0, 200}, fault.ErrInvalid},
		"more than 1,000 types":    {types.Bytes(), fault.ErrInvalid},
		"10^9 elements":            {append(gob.NewWriter().Stream(0, nil)[:0], sliceOf(1e9)...), fault.ErrInvalid},
		"a value of 10^5 levels":   {deep.Stream(id, append([]byte{0}, bytes.Repeat([]byte{1}, 100_000)...)), fault.ErrTooLarge},
		"the definition of an int": {[]byte{5, 3, 2, 1, 0, 0}, fault.ErrInvalid},
		"bytes after a definition": {append([]byte{0x0d}, []byte{0xff, 0x81, 2, 1, 2, 0xff, 0x82, 0, 1, 4, 0, 0, 9}...), fault.ErrInvalid},
		"text":                     {[]byte("GET / HTTP/1.1\r\n\r\n"), io.ErrUnexpectedEOF},
		"a hello of TLS":           {[]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + string(make([]byte, 100))), fault.ErrInvalid},
	} {
		_, err := copyOf(c.stream)
		require.ErrorIs(t, err, c.want, name)
	}
}

// sliceOf is a stream of a slice that announces n elements.
func sliceOf(n uint64) []byte {
	w := gob.NewWriter()
	id := w.Define(gob.Type{Kind: gob.Slice, Elem: int64(gob.Bool)})
	return w.Stream(id, append(gob.AppendUint([]byte{0}, n), 1, 1, 1))
}

func TestMemoryIsTakenOnlyForBytesThatCame(t *testing.T) {
	t.Parallel()
	reserved := int64(0)
	announced := append([]byte{0xfd, 0x10, 0, 0}, make([]byte, 1000)...) // 1 MiB
	r := gob.NewReader(bytes.NewReader(announced), 2<<20, func(n int64) error { reserved += n; return nil })
	r.Value()
	require.ErrorIs(t, r.Err(), io.ErrUnexpectedEOF)
	require.LessOrEqual(t, reserved, int64(32<<10))
	r = gob.NewReader(bytes.NewReader(announced), 2<<20, func(int64) error { return fault.ErrOverloaded })
	r.Value()
	require.ErrorIs(t, r.Err(), fault.ErrOverloaded)
}

func FuzzCopy(f *testing.F) {
	stdgob.Register(node{})
	stdgob.Register(map[string]int{})
	f.Add(encode(f, tree()))
	f.Add(encode(f, []any{1, "x", node{}, map[string]int{"a": 1}, nil}))
	f.Add(sliceOf(3))
	f.Fuzz(func(t *testing.T, stream []byte) {
		first, err := copyOf(stream)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(first), 16*len(stream)+1024)
		again, err := copyOf(first)
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}

func ExampleCopy() {
	var b bytes.Buffer
	_ = stdgob.NewEncoder(&b).Encode(map[string]int{"b": 2, "a": 1})
	r, w := gob.NewReader(&b, 1<<10, nil), gob.NewWriter()
	id := r.Value()
	value, written := gob.Copy(nil, w, r, id)
	var m map[string]int
	err := stdgob.NewDecoder(bytes.NewReader(w.Stream(written, value))).Decode(&m)
	fmt.Println(m, err, r.Err())
	// Output: map[a:1 b:2] <nil> <nil>
}
