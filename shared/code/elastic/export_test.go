package elastic

import "context"

// Collect removes hidden generations and blobs once, as Run does.
func Collect(ctx context.Context, x *Index) error { return newCollector(x).collect(ctx) }

// Refresh makes all writes visible to searches.
func Refresh(ctx context.Context, x *Index) error { return x.refresh(ctx, x.indices()...) }
