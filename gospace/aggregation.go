package gospace

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
)

// PutAgg takes all matches, folds them with f, and puts the result, which it returns. f must
// be a func(...Intertuple) Intertuple: it is called with the two oldest matches, then with its
// result and the next; with the only match; or without arguments if there is none. It runs in
// this process, with pointers to tuples, and should return a pointer. If f fails, the error
// is returned and all that was taken is put back, as the newest.
//
// In a space with a policy, a permitted action is applied to the matches that have no labels or
// the label of the policy, with pointers to labelled tuples, and the result has the label. If the
// action is not permitted, f is called, but nothing changes, and the result is a tuple with one
// nil field and no error.
func (s *Space) PutAgg(f interface{}, t ...interface{}) (Tuple, error) {
	return s.aggregate("PutAgg", f, t)
}

// GetAgg is PutAgg, except that it does not put the result. It fails as PutAgg does.
func (s *Space) GetAgg(f interface{}, t ...interface{}) (Tuple, error) {
	return s.aggregate("GetAgg", f, t)
}

// QueryAgg is GetAgg, except that it takes nothing. It fails as PutAgg does.
func (s *Space) QueryAgg(f interface{}, t ...interface{}) (Tuple, error) {
	return s.aggregate("QueryAgg", f, t)
}

// aggregation is one call of an aggregate operation.
type aggregation struct {
	space   *Space
	combine func(...Intertuple) Intertuple
	takes   bool
	label   *Label // of a policy that permits it; else nil
	change  Transformations
	taken   []Tuple // to put back after an error
}

// aggregate carries out PutAgg, GetAgg or QueryAgg, whose name is the operator. If the policy of the space does not
// permit it, it still calls f, but takes and puts nothing, and drops the result. After an error all that was taken is
// put back.
func (s *Space) aggregate(operator string, f interface{}, template []interface{}) (Tuple, error) {
	combine, ok := f.(func(...Intertuple) Intertuple)
	if !ok || combine == nil {
		return noTuple(), failure(invalid("a function of type %T: want func(...Intertuple) Intertuple", f))
	}
	if s == nil || s.connection == nil {
		return noTuple(), failure(errNoSpace)
	}
	a := aggregation{space: s, combine: combine, takes: operator != "QueryAgg"}
	permitted := true
	if s.policy != nil {
		permitted = a.permit(operator, f, template)
	}
	a.takes = a.takes && permitted
	stores := operator == "PutAgg" && permitted
	result, err := a.run(template, stores)
	if err != nil {
		for _, t := range a.taken {
			_, back := s.Put(t.Flds...)
			err = errors.Join(err, back)
		}
		return noTuple(), failure(err)
	}
	if !permitted {
		return noTuple(), nil
	}
	return result, nil
}

// permit finds the policy of the action, and reports whether there is one. It sets label and
// change then.
func (a *aggregation) permit(operator string, f interface{}, template []interface{}) bool {
	params := append([]interface{}{f}, template...)
	sign := ActionSignature(operator + printedPattern(params))
	a.label = a.space.policy.Find(&Action{Sign: sign})
	if a.label == nil {
		return false
	}
	p := a.space.policy.Retrieve(*a.label)
	if p == nil {
		return false
	}
	a.change = p.AggRule.Subject
	return true
}

// run returns the fold of the matches, and puts it if stores is true. What it took is in taken, also after an error.
func (a *aggregation) run(template []interface{}, stores bool) (Tuple, error) {
	matched, err := a.findArguments(template)
	if err != nil {
		return noTuple(), err
	}
	result, err := a.fold(matched)
	if err != nil {
		return noTuple(), err
	}
	if a.label != nil {
		result.Flds = append([]interface{}{NewLabels(*a.label)}, result.Flds...)
	}
	if stores {
		if _, err := a.space.Put(result.Flds...); err != nil {
			return noTuple(), err
		}
	}
	return result, nil
}

// findArguments returns the arguments of the fold. With a label they are the matches without labels and those with
// that label, as labelled tuples; it puts the others back.
func (a *aggregation) findArguments(template []interface{}) ([]Intertuple, error) {
	template, err := a.change.transformTemplate(template)
	if err != nil {
		return nil, err
	}
	tuples, err := a.find(template)
	if err != nil {
		return nil, err
	}
	if a.label == nil {
		return pointers(tuples), nil
	}
	labelled, err := a.find(append([]interface{}{&Labels{}}, template...))
	if err != nil {
		return nil, err
	}
	var args []Intertuple
	for _, t := range append(tuples, labelled...) {
		lt := LabelledTuple(t)
		labels := labelsOf(t.Flds)
		if len(t.Flds) == 0 || !isLabels(t.Flds[0]) {
			lt = LabelledTuple(CreateTuple(append([]interface{}{labels}, t.Flds...)...))
		}
		if len(labels) > 0 && labels.Retrieve(a.label.ID()) == nil {
			if err := a.putBack(t); err != nil {
				return nil, err
			}
			continue
		}
		it, err := a.change.Mtch.transform(&lt)
		if err != nil {
			return nil, err
		}
		args = append(args, it)
	}
	return args, nil
}

func isLabels(f any) bool {
	_, ok := f.(Labels)
	return ok
}

// putBack puts a match with a label of another policy back, and removes it from taken, which shares its fields.
func (a *aggregation) putBack(t Tuple) error {
	if !a.takes {
		return nil
	}
	if _, err := a.space.Put(t.Flds...); err != nil {
		return err
	}
	for i := range a.taken {
		if len(t.Flds) > 0 && len(a.taken[i].Flds) > 0 && &a.taken[i].Flds[0] == &t.Flds[0] {
			a.taken = append(a.taken[:i:i], a.taken[i+1:]...)
			break
		}
	}
	return nil
}

// find takes all matches, and adds them to taken, or only queries them.
func (a *aggregation) find(template []interface{}) ([]Tuple, error) {
	if !a.takes {
		return a.space.QueryAll(template...)
	}
	tuples, err := a.space.GetAll(template...)
	a.taken = append(a.taken, tuples...)
	return tuples, err
}

// pointers returns copies, because combine may change its arguments.
func pointers(tuples []Tuple) []Intertuple {
	var args []Intertuple
	for _, t := range tuples {
		c := t.Tuple()
		args = append(args, &c)
	}
	return args
}

// fold calls combine with the matches, as PutAgg states, and returns the transformed result.
func (a *aggregation) fold(args []Intertuple) (folded Tuple, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the function of the aggregation panicked: %v: %w", p, fault.ErrInvalid)
		}
	}()
	var result Intertuple
	switch len(args) {
	case 0:
		result = a.combine()
	case 1:
		result = a.combine(args[0])
	default:
		result = a.combine(args[0], args[1])
		for _, next := range args[2:] {
			result = a.combine(result, next)
		}
	}
	if result == nil {
		return Tuple{}, invalid("the function of the aggregation returned nil")
	}
	if result, err = a.change.Rslt.transform(result); err != nil {
		return Tuple{}, err
	}
	return result.Tuple(), nil
}
