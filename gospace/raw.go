package gospace

// The messages of InterpretError.
const (
	failed    = "operation on this space failed"
	succeeded = "operation on this space succeeded"
	noState   = "trying to interpret error on an invalid state"
	noSpace   = "trying to interpret error on an invalid space"
)

// rawTuple returns a tuple and the state of an operation: true if it succeeded.
func rawTuple(t Tuple, err error) (result, state interface{}) { return t, err == nil }

// rawTuples is rawTuple for a list.
func rawTuples(all []Tuple, err error) (result, state interface{}) { return all, err == nil }

// RawPut is Put with the state true or false in place of an error, as the other methods Raw…. Their
// result is a Tuple, a []Tuple or an int.
func (s *Space) RawPut(fields ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.Put(fields...))
}

// RawPutP is PutP with a state: see RawPut.
func (s *Space) RawPutP(fields ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.PutP(fields...))
}

// RawGet is Get with a state: see RawPut.
func (s *Space) RawGet(template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.Get(template...))
}

// RawGetP is GetP with a state: see RawPut.
func (s *Space) RawGetP(template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.GetP(template...))
}

// RawQuery is Query with a state: see RawPut.
func (s *Space) RawQuery(template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.Query(template...))
}

// RawQueryP is QueryP with a state: see RawPut.
func (s *Space) RawQueryP(template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.QueryP(template...))
}

// RawGetAll is GetAll with a state: see RawPut.
func (s *Space) RawGetAll(template ...interface{}) (tuples, state interface{}) {
	return rawTuples(s.GetAll(template...))
}

// RawQueryAll is QueryAll with a state: see RawPut.
func (s *Space) RawQueryAll(template ...interface{}) (tuples, state interface{}) {
	return rawTuples(s.QueryAll(template...))
}

// RawPutAgg is PutAgg with a state: see RawPut.
func (s *Space) RawPutAgg(f interface{}, template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.PutAgg(f, template...))
}

// RawGetAgg is GetAgg with a state: see RawPut.
func (s *Space) RawGetAgg(f interface{}, template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.GetAgg(f, template...))
}

// RawQueryAgg is QueryAgg with a state: see RawPut.
func (s *Space) RawQueryAgg(f interface{}, template ...interface{}) (tuple, state interface{}) {
	return rawTuple(s.QueryAgg(f, template...))
}

// RawSize is Size with a state: see RawPut.
func (s *Space) RawSize() (size, state interface{}) {
	n, err := s.Size()
	return n, err == nil
}

// InterpretError returns a message for the state of an operation.
func (s *Space) InterpretError(state interface{}) string {
	ok, isState := state.(bool)
	switch {
	case s == nil:
		return noSpace
	case !isState:
		return noState
	case ok:
		return succeeded
	}
	return failed
}

// InterpretOperation reports whether an operation with this state succeeded.
func (s *Space) InterpretOperation(state interface{}) bool {
	ok, _ := state.(bool)
	return s != nil && ok
}

// InterpretValue prints the tuple or template of an operation; other values are empty.
func (s *Space) InterpretValue(value interface{}) string {
	switch v := value.(type) {
	case nil:
		return "nil"
	case Tuple:
		return v.String()
	case Template:
		return v.String()
	}
	return ""
}

// NewSpaceError returns a SpaceError for the tuple or template and the state of an operation; nil if
// the operation succeeded or there is no state. Without a space it returns an error.
func NewSpaceError(s *Space, value, state interface{}) error {
	if s != nil && (state == nil || s.InterpretOperation(state)) {
		return nil
	}
	e := SpaceError{Msg: s.InterpretError(state), Sid: "nil", Val: s.InterpretValue(value), Status: state}
	if s != nil && s.connection != nil {
		e.Sid = s.id
	}
	return e
}
