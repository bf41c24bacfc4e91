package tuple

import (
	"fmt"
	"math/bits"
)

// Validate returns nil if a space accepts t. Otherwise it fails with ErrType or ErrBounds, and names the field and
// the accepted values.
func (t Tuple) Validate() error { return validate(t, withoutFormals) }

// Validate returns nil if a space accepts p, else an error as for a tuple.
func (p Template) Validate() error { return validate(p, withFormals) }

// Size returns how many bytes Append appends for t, which must be valid. t may also be a valid
// template that was converted to a tuple.
func (t Tuple) Size() int {
	size, _ := measure(t, withFormals, outermost)
	return size
}

// validate checks each field and nested tuple, and then the whole size; formals is whether there may be formals.
func validate(fields []any, formals bool) error {
	size, err := measure(fields, formals, outermost)
	if err != nil {
		return err
	}
	if size > MaxBytes {
		return fmt.Errorf("%w: %d bytes encoded, at most %d", ErrBounds, size, MaxBytes)
	}
	return nil
}

// measure checks the fields of a tuple at a depth of nesting, and returns their encoded size. It does not check that
// against MaxBytes. Formals are allowed if formals is set, but not in nested tuples.
func measure(fields []any, formals bool, depth int) (int, error) {
	if depth > MaxDepth {
		return 0, fmt.Errorf("%w: nested deeper than %d", ErrBounds, MaxDepth)
	}
	if len(fields) > MaxArity {
		return 0, fmt.Errorf("%w: %d fields, at most %d", ErrBounds, len(fields), MaxArity)
	}
	size := 1 // the number of fields: MaxArity takes one byte
	for i, f := range fields {
		n, err := measureField(f, formals, depth)
		if err != nil {
			return 0, fmt.Errorf("field %d: %w", i, err)
		}
		size += 1 + n // a tag and a value
	}
	return size, nil
}

// measureField checks a field, and returns the size of its value, without its tag. It refuses a field of another Go
// type, and a formal unless formals is set.
func measureField(f any, formals bool, depth int) (int, error) {
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
		return measure(v, withoutFormals, depth+1)
	case Formal:
		if formals && v.Type.valid() {
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
