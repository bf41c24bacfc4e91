package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/fault"
)

// body reads the one JSON object of a request; fields that v does not have are
// errors.
func body(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		_, err = d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("there is more behind the JSON")
		}
	}
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return fmt.Errorf("body: %w: at most %d bytes", fault.ErrTooLarge, tooLarge.Limit)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("a JSON object is wanted")
	}
	return fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
}

// query is the parameters of a request. It keeps the first error.
type query struct {
	values url.Values
	err    error
}

// ask returns the parameters, of which only these are known.
func ask(r *http.Request, known ...string) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.fail("query: %w", err)
	}
	for name, all := range values {
		if !slices.Contains(known, name) {
			q.fail("parameter %.64q does not exist here; there are %v", name, known)
		}
		if len(all) > 1 {
			q.fail("parameter %s is there %d times", name, len(all))
		}
	}
	return q
}

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = fmt.Errorf("%w: "+format, append([]any{fault.ErrInvalid}, args...)...)
	}
}

func (q *query) text(name string) string { return q.values.Get(name) }

// id is a parameter that names something, if it is there.
func (q *query) id(name string) string {
	v := q.text(name)
	if v != "" && !models.ValidID(v) {
		q.fail("%s: %s", name, wantID)
	}
	return v
}

func (q *query) number(name string, otherwise, most int) int {
	v := q.text(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > most {
		q.fail("%s must be a number from 0 to %d", name, most)
	}
	return n
}

func (q *query) flag(name string, otherwise bool) bool {
	v := q.text(name)
	if v == "" {
		return otherwise
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		q.fail("%s must be true or false", name)
	}
	return b
}

// part is the part of a list that is wanted.
type part struct{ offset, limit int }

func (q *query) part(most int) part {
	return part{q.number("offset", 0, math.MaxInt32), q.number("limit", min(100, most), most)}
}

// cut returns the part of all, each as f shows it.
func cut[S, T any](all []S, p part, f func(S) T) apitypes.Page[T] {
	l := apitypes.Page[T]{Items: []T{}, Total: len(all)}
	from := min(p.offset, len(all))
	for _, s := range all[from:min(from+p.limit, len(all))] {
		l.Items = append(l.Items, f(s))
	}
	return l
}

const wantID = "an id is wanted: 1 to 128 of A-Z a-z 0-9 . _ : -"

// pathID is the id in a path.
func pathID(r *http.Request, name string) (string, error) {
	id := r.PathValue(name)
	if !models.ValidID(id) {
		return "", fmt.Errorf("%s %.64q: %w: %s", name, id, fault.ErrInvalid, wantID)
	}
	return id, nil
}

// seconds is a length of time in a body, 0 to most.
func seconds(name string, s models.Seconds, most time.Duration) (time.Duration, error) {
	if !(s >= 0 && s <= models.SecondsOf(most)) {
		return 0, fmt.Errorf("%s: %w: 0 to %v seconds are accepted", name, fault.ErrInvalid, most.Seconds())
	}
	return s.Duration(), nil
}
