package node

import (
	"context"
	"net"
	"net/http"

	"leasehold/coordinator/api"
)

// OpenAPI returns the OpenAPI document of a coordinator's HTTP API, as YAML.
func OpenAPI(users bool) ([]byte, error) {
	if users {
		return api.OpenAPI(api.UsersDocument)
	}
	return api.OpenAPI(api.WholeDocument)
}

// ServeHTTP answers requests at port with the limits of a coordinator's API, until ctx ends. It
// closes port.
func ServeHTTP(ctx context.Context, port net.Listener, handler http.Handler) error {
	return api.Serve(ctx, port, handler)
}
