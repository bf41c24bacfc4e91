package apiclient

import (
	"context"
	"net/http"

	"leasehold/models"
)

// AddOrigin adds an origin and has it visited, one that is known too.
func (c *Client) AddOrigin(ctx context.Context, o models.Origin) (added models.Origin, isNew bool, err error) {
	body := struct {
		Kind     models.OriginKind `json:"kind"`
		URI      string            `json:"uri"`
		Priority int64             `json:"priority"`
	}{o.Kind, o.URI, o.Priority}
	status, err := c.Do(ctx, Call{Method: "POST", Path: "origins", Body: body, Answer: &added, Repeat: true})
	if err != nil || status == http.StatusCreated {
		return added, err == nil, err
	}
	visit := struct {
		Origin string `json:"origin"`
	}{added.ID}
	_, err = c.Do(ctx, Call{Method: "POST", Path: "visits", Body: visit, Repeat: true})
	return added, false, err
}
