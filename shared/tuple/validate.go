package tuple

import (
	"fmt"
	"math/bits"
)

// Validate returns nil if a space accepts t. Else the error is ErrType or ErrBounds, and
// names the field and what is accepted.
func (t Tuple) Validate() error { return validate(t, false) }

// Validate returns nil if a space accepts p, else an error as for a tuple.
func (p Template) Validate() error { return validate(p, true) }

// Size returns how many bytes Append appends for t, which must be valid.
func (t Tuple) Size() int {
	size, _ := measure(t, true, 1)
	return size
}

// validate checks each field and nested tuple, and then the whole size.
func validate(fields []any, template bool) error {
	size, err := measure(fields, template, 1)
	if err != nil {
		return err
	}
	if size > MaxBytes {
		return fmt.Errorf("%w: %d bytes encoded, at most %d", ErrBounds, size, MaxBytes)
	}
	return nil
}

// measure checks fields and returns their encoded size.
func measure(fields []any, template bool, depth int) (int, error) {
	if depth > MaxDepth {
		return 0, fmt.Errorf("%w: nested deeper than %d", ErrBounds, MaxDepth)
	}
	if len(fields) > MaxArity {
		return 0, fmt.Errorf("%w: %d fields, at most %d", ErrBounds, len(fields), MaxArity)
	}
	size := 1
	for i, f := range fields {
		n, err := measureField(f, template, depth)
		if err != nil {
			return 0, fmt.Errorf("field %d: %w", i, err)
		}
		size += 1 + n
	}
	return size, nil
}

// measureField returns the size of a field's value, without its tag.
func measureField(f any, template bool, depth int) (int, error) {
	switch v := f.(type) {
	case nil, bool:
		return 0, nil
	case int:
		return varintSize(int64(v)), nil
	case int32:
		return varintSize(int64(v)), nil
	case int64:
		return varintSize(v), nil
	case float32:
		return 4, nil
	case float64:
		return 8, nil
	case string:
		return runSize(len(v)), nil
	case []byte:
		return runSize(len(v)), nil
	case Opaque:
		return runSize(len(v.Name)) + runSize(len(v.JSON)), nil
	case Tuple:
		return measure(v, false, depth+1)
	case Formal:
		if template && v.Type.valid() {
			return runSize(len(v.Type)), nil
		}
		return 0, fmt.Errorf("%w: formal ?%s; accepted in templates are %v and %sNAME", ErrType, v.Type, Types, opaquePrefix)
	}
	return 0, fmt.Errorf("%w: %T; accepted are bool, int, int32, int64, float32, float64, string, []byte, tuple.Tuple, tuple.Opaque and nil", ErrType, f)
}

// runSize is the size of n bytes with their length before them.
func runSize(n int) int { return uvarintSize(uint64(n)) + n }

func uvarintSize(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

func varintSize(n int64) int { return uvarintSize(uint64(n)<<1 ^ uint64(n>>63)) }
