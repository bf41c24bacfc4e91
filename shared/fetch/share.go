package fetch

import (
	"context"
	"fmt"
	"sync"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A sharedDownload is one download that several callers wait for. When it has finished, its
// blob has one pin for each of them.
type sharedDownload struct {
	done   chan struct{}
	cancel context.CancelCauseFunc

	callers  int // guarded by Fetcher.mu, like the fields below
	finished bool
	blob     *blob
	err      error
}

// share waits for the download of ref, which it starts if there is none. If ctx ends first, the download goes on
// for other callers, and is cancelled if there are none. If both happen at the same moment, the download counts,
// because it has pinned the file in the cache for each of its callers.
func (f *Fetcher) share(ctx context.Context, ref models.MediaRef) (File, error) {
	key := ref.URI + "\x00" + ref.Version + "\x00" + ref.Hash
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return File{}, fmt.Errorf("the fetcher is closed: %w", fault.ErrClosed)
	}
	d := f.downloads[key]
	if d == nil {
		d = f.startDownload(ctx, key, ref)
	}
	d.callers++
	f.mu.Unlock()

	select {
	case <-d.done:
		return f.fileOf(d)
	case <-ctx.Done():
	}
	f.mu.Lock()
	if d.finished {
		f.mu.Unlock()
		return f.fileOf(d)
	}
	defer f.mu.Unlock()
	d.callers--
	if d.callers == 0 {
		delete(f.downloads, key) // the last caller leaves, so no other can have replaced d
		d.cancel(context.Canceled)
	}
	return File{}, context.Cause(ctx)
}

// startDownload starts a download. The caller holds f.mu. The download's context has the
// values of the first caller's context, but is not cancelled with it, because other callers
// may wait too. Each caller that still waits at its end gets a pin of the blob.
func (f *Fetcher) startDownload(ctx context.Context, key string, ref models.MediaRef) *sharedDownload {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	d := &sharedDownload{done: make(chan struct{}), cancel: cancel}
	f.downloads[key] = d
	f.running.Go(func() {
		blob, err := f.download(ctx, ref)
		cancel(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		d.finished, d.blob, d.err = true, blob, err
		if f.downloads[key] == d {
			delete(f.downloads, key)
		}
		if err == nil {
			f.cache.repin(blob, d.callers)
		}
		close(d.done)
	})
	return d
}

// fileOf returns the File of one caller of a finished download, or its error. Close of
// the File removes one pin.
func (f *Fetcher) fileOf(d *sharedDownload) (File, error) {
	if d.err != nil {
		return File{}, d.err
	}
	b := d.blob
	return File{
		Path: f.cache.path(b.hash), Hash: b.hash, Bytes: b.bytes,
		release: sync.OnceFunc(func() { f.cache.unpin(b) }),
	}, nil
}
