package catalog

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/api/client"
)

// bulkTimeout is the timeout of calls that send a listing or select from the whole catalog.
const bulkTimeout = 5 * time.Minute

// Client is a catalog at a coordinator. It may be used concurrently.
type Client struct{ api *client.Client }

// New returns a client of the API at base, such as http://127.0.0.1:7412. It connects on first use.
func New(base string) (*Client, error) {
	api, err := client.New(base)
	if err != nil {
		return nil, fmt.Errorf("catalog/remote: %w", err)
	}
	return Over(api), nil
}

// Over returns a client of the catalog that calls the API with api, which it closes.
func Over(api *client.Client) *Client { return &Client{api} }

// Close waits for calls in progress and closes the connections.
func (c *Client) Close() error { return c.api.Close() }

// do sends a request, and retries it while the error is transient. It returns the kind that the
// coordinator answered, such as fault.ErrNotFound, or fault.ErrUnavailable if it cannot be reached.
func (c *Client) do(ctx context.Context, x client.Call) error {
	x.Repeat = true
	if _, err := c.api.Do(ctx, x); err != nil {
		return fmt.Errorf("catalog/remote: %s %s: %w", x.Method, x.Path, err)
	}
	return nil
}

func get[T any](ctx context.Context, c *Client, path string) (document T, err error) {
	err = c.do(ctx, client.Call{Method: "GET", Path: path, Answer: &document})
	return document, err
}

// Nothing is decoded if T is struct{}.
func post[T any](ctx context.Context, c *Client, path string, body any, timeout time.Duration) (response T, err error) {
	x := client.Call{Method: "POST", Path: path, Body: body, Timeout: timeout}
	if _, none := any(response).(struct{}); !none {
		x.Answer = &response
	}
	err = c.do(ctx, x)
	return response, err
}
