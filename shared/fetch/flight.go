package fetch

import (
	"context"
	"fmt"
	"sync"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A flight is one download that several callers wait for. When it has landed
// its blob is pinned once for each of them.
type flight struct {
	done   chan struct{}
	cancel context.CancelCauseFunc

	callers int // guarded by Fetcher.mu, as is what follows
	landed  bool
	blob    *blob
	err     error
}

// share joins the flight for ref, or starts one.
func (f *Fetcher) share(ctx context.Context, ref models.MediaRef) (File, error) {
	key := ref.URI + "\x00" + ref.Version + "\x00" + ref.Hash
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return File{}, fmt.Errorf("the fetcher is closed: %w", fault.ErrClosed)
	}
	fl := f.flights[key]
	if fl == nil {
		fl = f.takeOff(ctx, key, ref)
	}
	fl.callers++
	f.mu.Unlock()

	select {
	case <-fl.done:
		return f.fileOf(fl)
	case <-ctx.Done():
	}
	f.mu.Lock()
	if fl.landed { // at the same moment; the pin is ours
		f.mu.Unlock()
		return f.fileOf(fl)
	}
	defer f.mu.Unlock()
	fl.callers--
	if fl.callers == 0 {
		if f.flights[key] == fl {
			delete(f.flights, key)
		}
		fl.cancel(context.Canceled)
	}
	return File{}, context.Cause(ctx)
}

// takeOff starts a download; the caller holds f.mu. Its context has the values
// of the first caller's but not its end.
func (f *Fetcher) takeOff(ctx context.Context, key string, ref models.MediaRef) *flight {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	fl := &flight{done: make(chan struct{}), cancel: cancel}
	f.flights[key] = fl
	f.running.Go(func() {
		blob, err := f.download(ctx, ref)
		cancel(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		fl.landed, fl.blob, fl.err = true, blob, err
		if f.flights[key] == fl {
			delete(f.flights, key)
		}
		if err == nil {
			f.cache.repin(blob, fl.callers)
		}
		close(fl.done)
	})
	return fl
}

// fileOf turns a caller's pin into its File.
func (f *Fetcher) fileOf(fl *flight) (File, error) {
	if fl.err != nil {
		return File{}, fl.err
	}
	b := fl.blob
	return File{
		Path: f.cache.path(b.hash), Hash: b.hash, Bytes: b.bytes,
		release: sync.OnceFunc(func() { f.cache.unpin(b) }),
	}, nil
}
