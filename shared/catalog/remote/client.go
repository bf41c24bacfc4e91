package remote

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"leasehold/shared/apiclient"
)

// bulkTimeout is of what carries a listing.
const bulkTimeout = 5 * time.Minute

// Client is a catalog at a coordinator. It may be used concurrently.
type Client struct{ api *apiclient.Client }

// New returns a client of the API at base, such as http://127.0.0.1:7412. It
// connects when it is first used.
func New(base string) (*Client, error) {
	api, err := apiclient.New(base)
	if err != nil {
		return nil, fmt.Errorf("catalog/remote: %w", err)
	}
	return &Client{api}, nil
}

// Close waits for calls under way, and gives up the connections.
func (c *Client) Close() error { return c.api.Close() }

// call is one request; all that a catalog does may be repeated.
type call struct {
	method, path string // path below /api/v1/
	query        url.Values
	body         any // nil: none
	answer       any // nil: none is wanted
	timeout      time.Duration
}

// do calls, and again while that may help.
func (c *Client) do(ctx context.Context, x call) error {
	_, err := c.api.Do(ctx, apiclient.Call{
		Method: x.method, Path: x.path, Query: x.query, Body: x.body, Answer: x.answer, Timeout: x.timeout, Repeat: true,
	})
	if err != nil {
		return fmt.Errorf("catalog/remote: %s %s: %w", x.method, x.path, err)
	}
	return nil
}
