package gospace

import (
	"fmt"
	"io"

	"leasehold/coordinator/gate/gospace/gob"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// maxRequest bounds a request in bytes; a tuple has at most tuple.MaxBytes encoded.
const maxRequest = 2 << 20

// request is one decoded request.
type request struct {
	operation operation
	tuple     tuple.Tuple
	template  tuple.Template
}

// operation is what a request asks for.
type operation struct {
	verb   space.Verb
	body   string // the name of the type of its body; empty for any
	answer answerKind
}

// answerKind is the form of an answer.
type answerKind byte

const (
	noAnswer   answerKind = iota
	trueAnswer            // a bool
	tupleAnswer
	maybeAnswer // found or not, and a tuple
	listAnswer  // tuples
	countAnswer
)

var operations = map[string]operation{
	"PUT_REQUEST":      {space.VerbPut, nameTuple, trueAnswer},
	"PUTP_REQUEST":     {space.VerbPutP, nameTuple, noAnswer},
	"GET_REQUEST":      {space.VerbGet, nameTemplate, tupleAnswer},
	"GETP_REQUEST":     {space.VerbGetP, nameTemplate, maybeAnswer},
	"GETALL_REQUEST":   {space.VerbGetAll, nameTemplate, listAnswer},
	"QUERY_REQUEST":    {space.VerbQuery, nameTemplate, tupleAnswer},
	"QUERYP_REQUEST":   {space.VerbQueryP, nameTemplate, maybeAnswer},
	"QUERYALL_REQUEST": {space.VerbQueryAll, nameTemplate, listAnswer},
	"SIZE_REQUEST":     {space.VerbCount, "", countAnswer},
}

// decodeRequest reads a request, and reserves memory for its bytes before it takes them. With an error, the
// request has its operation if it is known, so that it can be answered. Other fields of a request are skipped.
func decodeRequest(src io.Reader, reserve func(int64) error) (q request, err error) {
	r := gob.NewReader(src, maxRequest, reserve)
	id := r.Value()
	t := r.Type(id)
	if r.Err() == nil && t.Kind != gob.Struct {
		return q, fmt.Errorf("a request that is not a struct: %w", fault.ErrInvalid)
	}
	d := decoder{r}
	r.Struct(func(n int) {
		switch {
		case n >= len(t.Fields):
			d.invalid("field %d of a request", n)
		case t.Fields[n].Name == "Operation" && r.Type(t.Fields[n].Type).Kind == gob.String:
			name := string(r.Bytes())
			known, ok := operations[name]
			if !ok {
				d.invalid("operation %.40q", name)
			}
			q.operation = known
		case t.Fields[n].Name == "T" && r.Type(t.Fields[n].Type).Kind == gob.Interface:
			d.readBody(&q)
		default:
			gob.Skip(r, t.Fields[n].Type)
		}
	})
	return q, r.Err()
}

// readBody reads the tuple or template of a request into q. The operation must come before, because it decides
// which of both must follow; it refuses another type, or no operation so far.
func (d decoder) readBody(q *request) {
	name, id := d.r.Interface()
	switch {
	case q.operation.verb == 0 || q.operation.body != "" && name != q.operation.body:
		d.invalid("a body of type %.100q", name)
	case name == nameTuple:
		q.tuple = d.readFields(id, outermost, withoutFormals)
	case name == nameTemplate:
		q.template = d.readFields(id, outermost, withFormals)
	case name != "":
		gob.Skip(d.r, id)
	}
}
