package batch

import (
	"encoding/json"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// Of matches the outcomes of a repository.
func Of(repository string) tuple.Template {
	return tuple.Match("batch", repository, tuple.AnyString, tuple.AnyString)
}

// decode reads an outcome. The fields of the tuple decide which batch it is about.
func decode(t tuple.Tuple) (models.Indexed, error) {
	var r models.Indexed
	if err := json.Unmarshal([]byte(t.Str(3)), &r); err != nil {
		return r, fmt.Errorf("outcome of batch %s: %w: %w", t.Str(2), fault.ErrCorrupt, err)
	}
	r.Repository, r.Batch = t.Str(1), t.Str(2)
	return r, nil
}
