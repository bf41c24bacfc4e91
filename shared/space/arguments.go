package space

import "leasehold/shared/tuple"

// Argument is the type of an argument that WithArgs1, WithArgs2 and WithArgs3 convert.
type Argument interface {
	string | int64 | bool | tuple.Tuple
}

func formalOf[A Argument]() tuple.Formal {
	var zero A
	return tuple.Formal{Type: tuple.TypeOf(zero)}
}

// WithArgs1 registers a procedure of one argument. A call with any other argument list fails with fault.ErrInvalid.
// WithArgs2 and WithArgs3 do the same for two and three arguments, so that a procedure reads its arguments by name.
func WithArgs1[A Argument](p func(Tx, A) (tuple.Tuple, error)) Procedure {
	return WithArgs(tuple.Match(formalOf[A]()), func(tx Tx, args tuple.Tuple) (tuple.Tuple, error) {
		return p(tx, args[0].(A))
	})
}

// WithArgs2 is WithArgs1 for two arguments.
func WithArgs2[A, B Argument](p func(Tx, A, B) (tuple.Tuple, error)) Procedure {
	return WithArgs(tuple.Match(formalOf[A](), formalOf[B]()), func(tx Tx, args tuple.Tuple) (tuple.Tuple, error) {
		return p(tx, args[0].(A), args[1].(B))
	})
}

// WithArgs3 is WithArgs1 for three arguments.
func WithArgs3[A, B, C Argument](p func(Tx, A, B, C) (tuple.Tuple, error)) Procedure {
	return WithArgs(tuple.Match(formalOf[A](), formalOf[B](), formalOf[C]()), func(tx Tx, args tuple.Tuple) (tuple.Tuple, error) {
		return p(tx, args[0].(A), args[1].(B), args[2].(C))
	})
}

// FirstName returns the first argument of a procedure if it is a string, such as the name of a space; else "".
func FirstName(args tuple.Tuple) string {
	if len(args) == 0 {
		return ""
	}
	name, _ := args[0].(string)
	return name
}
