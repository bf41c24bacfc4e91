package tuple_test

import (
	"pgregory.net/rapid"

	"leasehold/shared/tuple"
)

// fields draws fields from a small pool of values, so that equal ones and ones
// that differ only by type are common.
func fields(depth int) *rapid.Generator[any] {
	small := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.IntRange(-2, 2).AsAny(),
		rapid.Int32Range(-2, 2).AsAny(),
		rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64()).AsAny(),
		rapid.SampledFrom(floats).AsAny(),
		rapid.Map(rapid.SampledFrom(floats), func(f float64) float32 { return float32(f) }).AsAny(),
		rapid.StringN(0, 3, -1).AsAny(),
		rapid.SliceOfN(rapid.Byte(), 0, 3).AsAny(),
		rapid.Custom(func(t *rapid.T) tuple.Opaque {
			return tuple.Opaque{Name: rapid.SampledFrom([]string{"", "a", "a\x00"}).Draw(t, "name"), JSON: "{}"}
		}).AsAny(),
	}
	if depth > 1 {
		small = append(small, tuples(depth-1).AsAny())
	}
	return rapid.OneOf(small...)
}

// tuples draws tuples of up to 4 fields, nested at most depth deep.
func tuples(depth int) *rapid.Generator[tuple.Tuple] {
	return rapid.Custom(func(t *rapid.T) tuple.Tuple {
		return rapid.SliceOfN(fields(depth), 0, 4).Draw(t, "fields")
	})
}

// template draws a template that often matches t.
func template(rt *rapid.T, t tuple.Tuple) tuple.Template {
	p := tuple.Template(t.Clone())
	for i, f := range p {
		switch rapid.IntRange(0, 5).Draw(rt, "how") {
		case 0, 1, 2:
			p[i] = tuple.Formal{Type: tuple.TypeOf(f)}
		case 3:
			p[i] = fields(2).Draw(rt, "other")
		}
	}
	return p
}
