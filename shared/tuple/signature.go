package tuple

import "strings"

// Type names the type of a field.
type Type string

// The types of fields. An opaque value's type is OpaqueType of its name.
const (
	Nil     Type = "nil"
	Bool    Type = "bool"
	Int     Type = "int"
	Int32   Type = "int32"
	Int64   Type = "int64"
	Float32 Type = "float32"
	Float64 Type = "float64"
	String  Type = "string"
	Bytes   Type = "bytes"
	Nested  Type = "tuple"
)

const opaquePrefix = "opaque:"

// OpaqueType is the type of the opaque values with that name.
func OpaqueType(name string) Type { return Type(opaquePrefix + name) }

// Types lists the types that are not opaque, for messages.
var Types = []Type{Nil, Bool, Int, Int32, Int64, Float32, Float64, String, Bytes, Nested}

// The formals of the types that protocols use most.
var (
	AnyString = Formal{String}
	AnyInt64  = Formal{Int64}
	AnyBool   = Formal{Bool}
)

// TypeOf returns the type of a field, "" for a value of any other Go type.
func TypeOf(f any) Type {
	switch v := f.(type) {
	case nil:
		return Nil
	case bool:
		return Bool
	case int:
		return Int
	case int32:
		return Int32
	case int64:
		return Int64
	case float32:
		return Float32
	case float64:
		return Float64
	case string:
		return String
	case []byte:
		return Bytes
	case Tuple:
		return Nested
	case Opaque:
		return OpaqueType(v.Name)
	}
	return ""
}

func (t Type) valid() bool { return t.opaque() || tagOf(t) != tagFormal }

func (t Type) opaque() bool { return strings.HasPrefix(string(t), opaquePrefix) }

// tagOf returns a type's byte in a signature; tagFormal if t is not a valid type. Both truth
// values have tagFalse, because a signature tells types and not values.
func tagOf(t Type) byte {
	switch t {
	case Nil:
		return tagNil
	case Bool:
		return tagFalse
	case Int:
		return tagInt
	case Int32:
		return tagInt32
	case Int64:
		return tagInt64
	case Float32:
		return tagFloat32
	case Float64:
		return tagFloat64
	case String:
		return tagString
	case Bytes:
		return tagBytes
	case Nested:
		return tagTuple
	}
	if t.opaque() {
		return tagOpaque
	}
	return tagFormal
}

// Signature is the arity and the type of each field, as one comparable string: a byte
// for each field, and the name of each opaque one. It is not printable. A template
// matches only tuples of its own signature.
type Signature string

// AppendSignature appends t's signature to buf and returns it. With it a lookup in a
// map of signatures need not allocate.
func (t Tuple) AppendSignature(buf []byte) []byte { return appendSignature(buf, t) }

// AppendSignature appends the signature of the tuples that p can match.
func (p Template) AppendSignature(buf []byte) []byte { return appendSignature(buf, p) }

// Signature returns t's signature.
func (t Tuple) Signature() Signature { return Signature(appendSignature(nil, t)) }

// Signature returns the signature of the tuples that p can match.
func (p Template) Signature() Signature { return Signature(appendSignature(nil, p)) }

// appendSignature appends the tag of each field's type, as in the codec; tagFalse stands for
// both bools. A formal has the tag of its type. Names of opaque types have their length in
// front, so that no two signatures are the same.
func appendSignature(buf []byte, fields []any) []byte {
	for _, f := range fields {
		switch v := f.(type) {
		case Formal:
			buf = append(buf, tagOf(v.Type))
			if v.Type.opaque() {
				buf = appendString(buf, v.Type[len(opaquePrefix):])
			}
		case Opaque:
			buf = appendString(append(buf, tagOpaque), v.Name)
		case string: // the most frequent type
			buf = append(buf, tagString)
		default:
			buf = append(buf, tagOf(TypeOf(f)))
		}
	}
	return buf
}
