package elastic

import (
	"context"
	"maps"
)

// Collect removes hidden generations and blobs once, as Run does.
func Collect(ctx context.Context, x *Index) error { return newCollector(x).collect(ctx) }

// Prefix returns the prefix of all names.
func Prefix(x *Index) string { return x.prefix }

// Refresh makes all writes visible to searches.
func Refresh(ctx context.Context, x *Index) error { return x.refresh(ctx, x.indices()...) }

// RebuildWith is Rebuild with another mapping: that of this version, and one field more in the index of blobs.
func RebuildWith(ctx context.Context, c Config, field string) (*Index, error) {
	x, err := New(c)
	if err != nil {
		return nil, err
	}
	x.mappings = maps.Clone(mappings)
	x.mappings[blobs] = maps.Clone(mappings[blobs])
	x.mappings[blobs][field] = keyword
	if _, err := x.rebuild(ctx, func(Rebuilding) {}); err != nil {
		return nil, err
	}
	x.anyMapping = false
	return x, nil
}
