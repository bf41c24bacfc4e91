package fetch

import (
	"context"
	"fmt"
	"net/http"

	"leasehold/models"
	"leasehold/shared/fault"
)

// download returns ref's blob, pinned once: from the cache if it is there, else
// from the network.
func (f *Fetcher) download(ctx context.Context, ref models.MediaRef) (*blob, error) {
	if b := f.cache.byHash(ref.Hash); b != nil {
		return b, nil
	}
	old, rec := f.cache.byURI(ref.URI)
	if old != nil && ref.Hash != "" { // another content than we want
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

// refresh asks for ref, unless it is still old, which may be nil.
func (f *Fetcher) refresh(ctx context.Context, ref models.MediaRef, old *blob, rec record) (*blob, error) {
	header := http.Header{"Accept-Encoding": {"identity"}}
	if old != nil && rec.ETag != "" {
		header.Set("If-None-Match", rec.ETag)
	} else if old != nil && rec.LastModified != "" {
		header.Set("If-Modified-Since", rec.LastModified)
	}
	t, err := f.request(ctx, ref.URI, header, f.config.MaxBytes)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if t.StatusCode == http.StatusNotModified {
		if old == nil {
			return nil, fmt.Errorf("the server answered 304 to a question without condition: %w", fault.ErrUnavailable)
		}
		rec.Version = ref.Version
		f.cache.note(old, rec)
		return old, nil
	}
	f.cache.makeRoom(t.ContentLength)
	s, err := f.cache.stage(t.body)
	if err != nil {
		return nil, err
	}
	if ref.Hash != "" && s.hash != ref.Hash {
		s.remove()
		return nil, fmt.Errorf("its hash is %s, not %s: %w", s.hash, ref.Hash, fault.ErrCorrupt)
	}
	return f.cache.adopt(s, record{
		URI: ref.URI, Version: ref.Version, Hash: s.hash,
		ETag: bounded(t.Header.Get("ETag")), LastModified: bounded(t.Header.Get("Last-Modified")),
	})
}

// bounded drops validators of a silly length.
func bounded(validator string) string {
	if len(validator) > 1024 {
		return ""
	}
	return validator
}
