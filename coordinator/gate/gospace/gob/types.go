package gob

// Kind is the kind of a type.
type Kind byte

// The kinds. Those before Array have the number of their only type.
const (
	invalidKind Kind = iota
	Bool
	Int
	Uint
	Float
	Bytes
	String
	Complex
	Interface
	Array
	Slice
	Struct
	Map
	Encoded // by methods of its type: bytes
)

// firstNumber is the lowest number of a type that a stream may define.
const firstNumber = 24

// Type is one type of a stream. Types refer to each other by number.
type Type struct {
	Kind      Kind
	Name      string
	Len       int64 // of an Array
	Key, Elem int64 // of a Map; Elem also of an Array and Slice
	Fields    []Field
	method    int // of Encoded: the field of the definition
}

// Field is one field of a Struct.
type Field struct {
	Name string
	Type int64
}

var noType = &Type{}

// Type returns the type of a number. An undefined number ends the reader with fault.ErrInvalid, and the result is
// a type of no kind, so that callers need not check for nil.
func (r *Reader) Type(id int64) *Type {
	if id > 0 && id < int64(Array) {
		return &Type{Kind: Kind(id)}
	}
	if t := r.types[id]; t != nil {
		return t
	}
	r.invalid("type %d is not defined", id)
	return noType
}

// The fields of a definition. Exactly one is set.
const (
	arrayField = iota
	sliceField
	structField
	mapField
	gobEncoderField
	binaryMarshalerField
	textMarshalerField
)

// define reads the definition of a type of that number, which must be new. A definition of no
// kind or of two, and more than maxTypes, is an error.
func (r *Reader) define(id int64) {
	if id < firstNumber || r.types[id] != nil || len(r.types) >= maxTypes {
		r.invalid("definition of type %d after %d others", id, len(r.types))
		return
	}
	t := &Type{}
	r.Struct(func(n int) {
		if t.Kind != invalidKind {
			r.invalid("two definitions of type %d", id)
			return
		}
		switch n {
		case arrayField:
			t.Kind = Array
		case sliceField:
			t.Kind = Slice
		case structField:
			t.Kind = Struct
		case mapField:
			t.Kind = Map
		case gobEncoderField, binaryMarshalerField, textMarshalerField:
			t.Kind, t.method = Encoded, n
		default:
			r.invalid("definition of kind %d", n)
		}
		r.Struct(func(n int) { r.definePart(t, n) })
	})
	if t.Kind == invalidKind {
		r.invalid("empty definition of type %d", id)
		return
	}
	r.types[id] = t
}

// definePart reads field n of the definition of a type of a known kind. Field 0 has the name,
// for all kinds; the others depend on the kind.
func (r *Reader) definePart(t *Type, n int) {
	switch {
	case n == 0:
		r.Struct(func(n int) {
			switch n {
			case 0:
				t.Name = string(r.Bytes())
			case 1:
				r.Int() // the number again
			default:
				r.invalid("field %d of a type", n)
			}
		})
	case n == 1 && (t.Kind == Array || t.Kind == Slice):
		t.Elem = r.Int()
	case n == 2 && t.Kind == Array:
		t.Len = r.Int()
	case n == 1 && t.Kind == Map:
		t.Key = r.Int()
	case n == 2 && t.Kind == Map:
		t.Elem = r.Int()
	case n == 1 && t.Kind == Struct:
		r.defineFields(t)
	default:
		r.invalid("field %d of a definition", n)
	}
}

// defineFields reads the fields of a struct's definition. All definitions of a stream may have
// maxFields together, so that short messages cannot take much memory.
func (r *Reader) defineFields(t *Type) {
	n := r.Count()
	r.fields += n
	if r.fields > maxFields {
		r.invalid("types of %d fields", r.fields)
		return
	}
	t.Fields = make([]Field, n)
	for i := range t.Fields {
		f := &t.Fields[i]
		r.Struct(func(n int) {
			switch n {
			case 0:
				f.Name = string(r.Bytes())
			case 1:
				f.Type = r.Int()
			default:
				r.invalid("field %d of a field", n)
			}
		})
	}
}
