package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A Space is a tuple space.
type Space struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Visible   int    `json:"visible"` // tuples that can be found
	Held      int    `json:"held"`
	Capacity  int    `json:"capacity"`
	Overflow  string `json:"overflow"`
	Volatile  bool   `json:"volatile"`
	QueryOnly bool   `json:"query_only"` // only the protocols write here
}

// A Tuple is a tuple: Line in the notation of package tuple, which reads back.
type Tuple struct {
	Line   string  `json:"line"`
	Fields []Field `json:"fields"`
	State  string  `json:"state,omitempty"` // in a list: visible or held
	Holder string  `json:"holder,omitempty"`
}

// A Field is one field of a tuple. Its value stays as it came, because an int64 is
// more than JSON's readers keep of a number.
type Field struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// Spaces lists the spaces.
func (c *Client) Spaces(ctx context.Context) ([]Space, error) {
	page, err := List[Space](ctx, c, "spaces", nil, PageSize, -1)
	return append([]Space{}, page.Items...), err
}

// Space returns one; fault.ErrNotFound says that there is none of that name.
func (c *Client) Space(ctx context.Context, name string) (s Space, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: inSpace(name, ""), Answer: &s, Repeat: true})
	return s, err
}

// inSpace is the path of something of a space. A name is only what a path can
// carry as one element.
func inSpace(name, what string) string {
	path := "spaces/" + url.PathEscape(name)
	if what != "" {
		path += "/" + what
	}
	return path
}

// Tuples lists what matches a template in the notation of package tuple, at most
// so many (List), without taking any.
func (c *Client) Tuples(ctx context.Context, space, template string, held bool, most int) (Page[Tuple], error) {
	q := url.Values{"template": {template}, "held": {strconv.FormatBool(held)}}
	return List[Tuple](ctx, c, inSpace(space, "tuples"), q, TuplesPage, most)
}

// Put puts a tuple in the notation of package tuple; a ttl of 0 keeps it until it
// is taken.
func (c *Client) Put(ctx context.Context, space, line string, ttl time.Duration) (t Tuple, err error) {
	body := struct {
		Tuple string         `json:"tuple"`
		TTL   models.Seconds `json:"ttl_s"`
	}{line, models.SecondsOf(ttl)}
	_, err = c.Do(ctx, Call{Method: "POST", Path: inSpace(space, "put"), Body: body, Answer: &t})
	return t, err
}

// longestWait is how long one request waits for a tuple: below the API's own bound.
const longestWait = 20 * time.Second

// Get takes a tuple that matches, and waits for one: so long, or if patience is
// below 0 until ctx ends. fault.ErrNotFound says that none came, or that there is
// no such space.
func (c *Client) Get(ctx context.Context, space, template string, patience time.Duration) (Tuple, error) {
	if _, err := c.Space(ctx, space); err != nil {
		return Tuple{}, err // which an answer to a get cannot tell from no match
	}
	for end := time.Now().Add(patience); ; {
		wait := longestWait
		if patience >= 0 {
			wait = max(0, min(wait, time.Until(end)))
		}
		t, err := c.getOnce(ctx, space, template, wait)
		if err == nil || !errors.Is(err, fault.ErrNotFound) {
			return t, err
		}
		if patience >= 0 && time.Until(end) <= 0 {
			return Tuple{}, fmt.Errorf("space %s: %w: no tuple matches %s", space, fault.ErrNotFound, template)
		}
	}
}

func (c *Client) getOnce(ctx context.Context, space, template string, wait time.Duration) (t Tuple, err error) {
	body := struct {
		Template string         `json:"template"`
		Wait     models.Seconds `json:"wait_s"`
	}{template, models.SecondsOf(wait)}
	_, err = c.Do(ctx, Call{Method: "POST", Path: inSpace(space, "get"), Body: body, Answer: &t})
	return t, err
}
