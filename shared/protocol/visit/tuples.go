package visit

import (
	"encoding/json"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// Key is the fields of a visit's tuple that its body does not decide.
type Key struct {
	Kind   models.OriginKind
	Origin string // id
	Visit  string // id
}

// DecodeKey returns the key of a tuple that Any matches, even if the body is malformed.
func DecodeKey(t tuple.Tuple) Key {
	return Key{Kind: models.OriginKind(t.Str(1)), Origin: t.Str(2), Visit: t.Str(3)}
}

func encode(v models.Visit) (tuple.Tuple, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("visit %s: %w: %w", v.ID, fault.ErrInvalid, err)
	}
	return tuple.New("visit", string(v.Origin.Kind), v.Origin.ID, v.ID, string(body)), nil
}

func decode(t tuple.Tuple) (models.Visit, error) {
	var v models.Visit
	k := DecodeKey(t)
	if err := json.Unmarshal([]byte(t.Str(4)), &v); err != nil {
		return models.Visit{}, fmt.Errorf("visit's body: %w: %w", fault.ErrCorrupt, err)
	}
	v.ID, v.Origin.ID = k.Visit, k.Origin
	return v, nil
}

// match matches visits; both ids may be formals.
func match(origin, id any) tuple.Template {
	return tuple.Match("visit", tuple.AnyString, origin, id, tuple.AnyString)
}

// Any matches every visit.
func Any() tuple.Template { return match(tuple.AnyString, tuple.AnyString) }

// AnyOf matches the visits of one origin.
func AnyOf(origin string) tuple.Template { return match(origin, tuple.AnyString) }

func withID(id string) tuple.Template { return match(tuple.AnyString, id) }

// ResultKey returns the ids in the result of a visit, which task.AnyResult(Action)
// matches.
func ResultKey(t tuple.Tuple) Key {
	r := task.DecodeResult(t)
	return Key{Origin: r.Subject, Visit: r.Part}
}

// decodeCapacity reads the answer of procCapacity.
func decodeCapacity(reply tuple.Tuple) int { return int(reply.Int64(0)) }
