package elastic

import (
	"context"
	"errors"
	"net/http"
)

// Collect removes hidden generations and blobs once, as Run does.
func Collect(ctx context.Context, x *Index) error { return newCollector(x).collect(ctx) }

// RemoveIndices deletes all indices.
func RemoveIndices(ctx context.Context, x *Index) (err error) {
	for _, index := range x.indices() {
		err = errors.Join(err, x.client.do(ctx, call{method: http.MethodDelete, path: x.prefix + index + version}))
	}
	return err
}

// Refresh makes all writes visible to searches.
func Refresh(ctx context.Context, x *Index) error { return x.refresh(ctx, x.indices()...) }
