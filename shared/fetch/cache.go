package fetch

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The folders of a cache.
const (
	blobFolder   = "sha256"
	recordFolder = "uri"
	stageFolder  = "partial"
)

// A cache keeps fetched content by its hash, and remembers which URI gave it.
// What was used last is evicted last; what is pinned is not evicted.
type cache struct {
	dir   string
	limit int64

	mu      sync.Mutex // guards what follows, and the files of blobs and records
	blobs   map[string]*blob
	records map[string]record // by URI
	recent  *list.List        // of *blob, the latest used first
	total   int64
}

// A blob is one content.
type blob struct {
	hash  string
	bytes int64
	pins  int             // guarded by cache.mu, as is what follows
	at    *list.Element   // nil once it was dropped
	uris  map[string]bool // that gave it
}

func (c *cache) path(hash string) string {
	hex := strings.TrimPrefix(hash, HashPrefix)
	return filepath.Join(c.dir, blobFolder, hex[:2], hex)
}

// byHash returns a content, pinned, or nil.
func (c *cache) byHash(hash string) *blob {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pin(hash)
}

// byURI returns what a URI gave last, pinned, or nil.
func (c *cache) byURI(uri string) (*blob, record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec := c.records[uri]
	return c.pin(rec.Hash), rec
}

// pin finds a blob whose file is whole, and marks it used. The time of the file
// is when it was used last, so that the order survives a restart.
func (c *cache) pin(hash string) *blob {
	b := c.blobs[hash]
	if b == nil {
		return nil
	}
	if info, err := os.Stat(c.path(hash)); err != nil || info.Size() != b.bytes {
		c.drop(b)
		return nil
	}
	b.pins++
	c.recent.MoveToFront(b.at)
	now := time.Now()
	_ = os.Chtimes(c.path(hash), now, now) // at worst it is evicted too early
	return b
}

// repin replaces the one pin of a download by one for each caller.
func (c *cache) repin(b *blob, callers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.pins += callers - 1
	c.evict(0)
}

func (c *cache) unpin(b *blob) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.pins--
	c.evict(0)
}

// makeRoom evicts until bytes more fit, if it can.
func (c *cache) makeRoom(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict(max(bytes, 0))
}

func (c *cache) evict(room int64) {
	for e := c.recent.Back(); e != nil && c.total+room > c.limit; {
		b := e.Value.(*blob)
		e = e.Prev()
		if b.pins == 0 {
			c.drop(b)
		}
	}
}

// drop forgets a blob, its records and their files. A file that cannot be
// removed is found again at the next start.
func (c *cache) drop(b *blob) {
	if b.at == nil {
		return
	}
	for uri := range b.uris {
		c.forget(uri)
	}
	os.Remove(c.path(b.hash))
	c.recent.Remove(b.at)
	b.at = nil
	delete(c.blobs, b.hash)
	c.total -= b.bytes
}

// add enters a blob whose file is in its place.
func (c *cache) add(hash string, bytes int64) *blob {
	b := &blob{hash: hash, bytes: bytes, uris: map[string]bool{}}
	b.at = c.recent.PushFront(b)
	c.blobs[hash] = b
	c.total += bytes
	return b
}

// staged is a whole download that has no name yet.
type staged struct {
	path  string
	hash  string
	bytes int64
}

func (s staged) remove() { os.Remove(s.path) }

// stage writes content to a partial file, which it removes if that fails.
func (c *cache) stage(content io.Reader) (s staged, err error) {
	f, err := os.CreateTemp(filepath.Join(c.dir, stageFolder), "*")
	if err != nil {
		return s, kindOf(err)
	}
	s.path = f.Name()
	defer func() {
		f.Close()
		if err != nil {
			s.remove()
		}
	}()
	sum := sha256.New()
	src := &remembering{Reader: content}
	s.bytes, err = io.Copy(io.MultiWriter(f, sum), src)
	if src.err != nil {
		return s, src.err
	}
	if err == nil {
		err = f.Sync() // or a power cut leaves a file of zeros under a good name
	}
	if err != nil {
		return s, fmt.Errorf("write the cache: %w", kindOf(err))
	}
	s.hash = HashPrefix + hex.EncodeToString(sum.Sum(nil))
	return s, nil
}

// remembering tells errors of reading from errors of writing.
type remembering struct {
	io.Reader
	err error
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// adopt gives a staged file its name, and returns it pinned.
func (c *cache) adopt(s staged, rec record) (*blob, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.pin(s.hash)
	if b != nil {
		s.remove()
	} else {
		if err := c.place(s); err != nil {
			s.remove()
			return nil, fmt.Errorf("write the cache: %w", kindOf(err))
		}
		b = c.add(s.hash, s.bytes)
		b.pins = 1
	}
	c.remember(b, rec)
	c.evict(0)
	return b, nil
}

func (c *cache) place(s staged) error {
	path := c.path(s.hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.Rename(s.path, path)
}
