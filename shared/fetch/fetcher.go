package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch/turns"
	"leasehold/shared/process/platform"
)

// Fetcher fetches content. All its methods may be called concurrently.
type Fetcher struct {
	config Config
	guard  guard
	roots  roots
	hashes hashes
	cache  *cache
	client *http.Client
	robots robots

	turns      *turns.Turns // of hosts
	paced      atomic.Bool  // requests of visits take turns
	longestGap atomic.Int64 // between two of them, in nanoseconds

	mu        sync.Mutex // guards the fields below
	downloads map[string]*sharedDownload
	closed    bool
	running   sync.WaitGroup // downloads
}

// New opens the cache, and removes the partial files that a crash left. Invalid limits, folders and entries of
// AllowPrivate are fault.ErrInvalid. The caller closes the Fetcher.
func New(c Config) (*Fetcher, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, fmt.Errorf("fetch.New: cache %s: %w", c.Dir, err)
	}
	f := &Fetcher{config: c, turns: turns.New(1), downloads: map[string]*sharedDownload{}}
	for _, entry := range c.AllowPrivate {
		if err := f.guard.allow(entry); err != nil {
			return nil, fmt.Errorf("fetch.New: %w", err)
		}
	}
	for _, folder := range c.Roots {
		if err := f.roots.add(folder); err != nil {
			return nil, fmt.Errorf("fetch.New: %w", err)
		}
	}
	if f.cache, err = openCache(c.Dir, c.CacheBytes); err != nil {
		return nil, fmt.Errorf("fetch.New: cache %s: %w", c.Dir, err)
	}
	f.client = f.newClient()
	return f, nil
}

// Close cancels all downloads, waits for them, and closes idle connections. Open files keep their
// paths. Calls of Fetch then fail with fault.ErrClosed. It always returns nil.
func (f *Fetcher) Close() error {
	f.mu.Lock()
	f.closed = true
	for _, d := range f.downloads {
		d.cancel(fmt.Errorf("the fetcher is closed: %w", fault.ErrClosed))
	}
	f.mu.Unlock()
	f.running.Wait()
	f.client.CloseIdleConnections()
	return nil
}

// Fetch returns ref's content as a file on this machine, once it is complete. A local file is not
// copied. Other content comes from the cache if the cache has ref.Hash, or if the URI was fetched for
// the same ref.Version; otherwise it is requested, on the condition that it has changed if that can
// be expressed. Concurrent calls for one ref share a download, which is cancelled when the contexts
// of all of them have ended. The caller closes the File. fault.ErrInvalid: the URI or the hash is
// malformed, or the address is not allowed (Refused); fault.ErrClosed after Close; other errors are ctx's
// cause, those of local for a file, and those of the transfer (send, body.Read).
func (f *Fetcher) Fetch(ctx context.Context, ref models.MediaRef) (File, error) {
	u, err := f.parse(ref.URI)
	if err != nil {
		return File{}, &refusal{err}
	}
	if ref.Hash != "" && !wellFormedHash.MatchString(ref.Hash) {
		return File{}, &refusal{fmt.Errorf("fetch %s: hash %q is not sha256: and 64 hex digits: %w", u.Redacted(), ref.Hash, fault.ErrInvalid)}
	}
	var file File
	if u.Scheme == "file" {
		file, err = f.local(ctx, u, ref.Hash)
	} else {
		file, err = f.share(ctx, ref)
	}
	if err != nil {
		return File{}, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	return file, nil
}

// Check refuses, with fault.ErrInvalid, what Fetch refuses without using the network or the disk:
// schemes, spellings of hosts, addresses that are not public. The address of a name is checked only
// when it is dialled.
func (f *Fetcher) Check(uri string) error {
	_, err := f.parse(uri)
	return err
}

// Trust allows access to an origin: the folder, the folder that holds a local file, or the host and port of a URL
// even if it is private (models.KindInfo). It has no effect for a URL that a lister named and the operator did
// not, because a document from outside must not lead to addresses of the operator's network. It also has no
// effect for an origin that the fetcher does not read, because it is not visited or is behind ssh. It must be
// called only for origins of the catalog. It fails with fault.ErrInvalid for a relative path and for a URL that
// is not accepted.
func (f *Fetcher) Trust(o models.Origin) error {
	if !o.Kind.Visited() || o.Listed && !filepath.IsAbs(o.URI) {
		return nil
	}
	var err error
	if u, perr := url.Parse(o.URI); perr == nil && (u.Scheme == "http" || u.Scheme == "https") {
		err = f.guard.allowURL(u)
	} else if models.IsSSHURL(o.URI) {
		return nil
	} else if o.Kind.LocalForm(o.URI) == models.LocalFile {
		err = f.roots.add(filepath.Dir(o.URI))
	} else {
		err = f.roots.add(o.URI)
	}
	if err != nil {
		return fmt.Errorf("trust origin %s: %w", o.URI, err)
	}
	return nil
}

// Folder opens a folder that the operator allowed, or one below it. The caller closes it. No path in it leads out
// of it. It fails with fault.ErrNotFound if there is no such folder.
func (f *Fetcher) Folder(path string) (*os.Root, error) {
	root, err := f.roots.folder(filepath.Clean(path))
	if errors.Is(err, fault.ErrNotFound) {
		return nil, fmt.Errorf("folder %s: no such folder: %w", path, fault.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", path, err)
	}
	return root, nil
}

// parse parses a URI and refuses schemes, spellings of hosts, and addresses, with
// fault.ErrInvalid. The address of a name is checked when it is dialled.
func (f *Fetcher) parse(uri string) (*url.URL, error) {
	u, err := url.Parse(uri)
	if err != nil {
		// Without the URI, which the message has already.
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("fetch %q: %w: %w", shorten(uri), err, fault.ErrInvalid)
	}
	if err := f.check(u); err != nil {
		return nil, fmt.Errorf("fetch %s: %w", shorten(u.Redacted()), err)
	}
	return u, nil
}

// check refuses schemes, hosts and addresses. It runs for each requested URL, redirects included.
func (f *Fetcher) check(u *url.URL) error {
	switch u.Scheme {
	case "http", "https":
		return f.guard.checkURL(u)
	case "file":
		if (u.Host != "" && u.Host != "localhost") || !filepath.IsAbs(platform.FilePath(u)) {
			return fmt.Errorf("want file:///absolute/path: %w", fault.ErrInvalid)
		}
		return nil
	}
	return fmt.Errorf("scheme %q: use one of http, https and file: %w", shorten(u.Scheme), fault.ErrInvalid)
}

// shorten limits the length of URIs in messages, because data: URIs can be large.
func shorten(s string) string {
	const maxBytes = 300
	if len(s) <= maxBytes {
		return s
	}
	return s[:maxBytes] + "…"
}
