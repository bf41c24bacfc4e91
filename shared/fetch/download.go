package fetch

import (
	"context"
	"fmt"
	"net/http"

	"leasehold/models"
	"leasehold/shared/fault"
)

// download returns ref's blob with one pin: from the cache if it has ref.Hash, or its URI at ref.Version,
// otherwise from the network (refresh). A cached blob with another hash than the wanted one is not used. If a
// blob is not returned, its pin is released.
func (f *Fetcher) download(ctx context.Context, ref models.MediaRef) (*blob, error) {
	if b := f.cache.byHash(ref.Hash); b != nil {
		return b, nil
	}
	old, rec := f.cache.byURI(ref.URI)
	if old != nil && ref.Hash != "" {
		f.cache.unpin(old)
		old = nil
	}
	if old != nil && ref.Version != "" && ref.Version == rec.Version {
		return old, nil
	}
	b, err := f.refresh(ctx, ref, old, rec)
	if old != nil && b != old {
		f.cache.unpin(old)
	}
	return b, err
}

// refresh requests ref, on the condition that it differs from old, whose record is rec; old may be nil. It
// returns a new blob with one pin, or old, with the pin of the caller, if the server reports that nothing has
// changed. It refuses content with another hash than ref.Hash, and a 304 without a condition.
func (f *Fetcher) refresh(ctx context.Context, ref models.MediaRef, old *blob, rec record) (*blob, error) {
	header := http.Header{"Accept-Encoding": {"identity"}}
	if old != nil && rec.ETag != "" {
		header.Set("If-None-Match", rec.ETag)
	} else if old != nil && rec.LastModified != "" {
		header.Set("If-Modified-Since", rec.LastModified)
	}
	t, err := f.send(ctx, http.MethodGet, ref.URI, header, nil, f.config.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if t.StatusCode == http.StatusNotModified {
		if old == nil {
			return nil, fmt.Errorf("the server answered 304 to a request without condition: %w", fault.ErrUnavailable)
		}
		rec.Version = ref.Version
		f.cache.updateRecord(old, rec)
		return old, nil
	}
	f.cache.makeSpace(t.ContentLength)
	s, err := f.cache.stage(t.body)
	if err != nil {
		return nil, err
	}
	if ref.Hash != "" && s.hash != ref.Hash {
		s.remove()
		return nil, fmt.Errorf("its hash is %s, not %s: %w", s.hash, ref.Hash, fault.ErrCorrupt)
	}
	return f.cache.publish(s, record{
		Key: keyOf(ref.URI), Version: ref.Version, Hash: s.hash,
		ETag: t.validator("ETag"), LastModified: t.validator("Last-Modified"),
	})
}
