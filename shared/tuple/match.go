package tuple

// Matches reports whether t has p's arity and each of its fields equals p's
// actual or has the type of p's formal.
func (p Template) Matches(t Tuple) bool {
	if len(p) != len(t) {
		return false
	}
	for i, f := range p {
		if formal, ok := f.(Formal); ok {
			if TypeOf(t[i]) != formal.Type {
				return false
			}
		} else if !equal(f, t[i]) {
			return false
		}
	}
	return true
}

// Shape is which fields of a template are actual: bit i is set if field i is.
type Shape uint64

// Shape returns p's shape. A bit is enough for each field, because p has at most MaxArity.
func (p Template) Shape() Shape {
	var s Shape
	for i, f := range p {
		if _, formal := f.(Formal); !formal {
			s |= 1 << i
		}
	}
	return s
}

// Exactly returns the template that matches only tuples equal to t. It shares t's fields.
func (t Tuple) Exactly() Template { return Template(t) }
