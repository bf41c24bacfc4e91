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

// A cache keeps fetched content by its hash, and records which URI returned it. It evicts
// the least recently used content; pinned content is not evicted.
type cache struct {
	dir   string
	limit int64

	mu      sync.Mutex // guards the fields below, and the files of blobs and records
	blobs   map[string]*blob
	records map[string]record // by key
	recent  *list.List        // of *blob, the latest used first
	total   int64
}

// A blob is content with one hash.
type blob struct {
	hash  string
	bytes int64
	pins  int             // guarded by cache.mu, like the fields below
	at    *list.Element   // in cache.recent
	keys  map[string]bool // of the URIs that returned it
}

func (c *cache) path(hash string) string {
	hex := strings.TrimPrefix(hash, hashPrefix)
	return filepath.Join(c.dir, blobFolder, hex[:2], hex)
}

// byHash returns the blob of a hash, pinned, or nil.
func (c *cache) byHash(hash string) *blob {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pin(hash)
}

// byURI returns the blob that a URI returned last, pinned, or nil, and the record of the URI,
// which is zero if there is none.
func (c *cache) byURI(uri string) (*blob, record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec := c.records[keyOf(uri)]
	return c.pin(rec.Hash), rec
}

// pin returns a blob whose file is complete, marks it as used, and adds a pin; nil: there
// is none, or it was incomplete and is removed. It sets the time of the file, so that the
// order of use survives a restart. The caller holds c.mu.
func (c *cache) pin(hash string) *blob {
	b := c.blobs[hash]
	if b == nil {
		return nil
	}
	if info, err := os.Stat(c.path(hash)); err != nil || info.Size() != b.bytes {
		c.removeBlob(b)
		return nil
	}
	b.pins++
	c.recent.MoveToFront(b.at)
	now := time.Now()
	_ = os.Chtimes(c.path(hash), now, now) // on an error it is evicted earlier
	return b
}

// repin replaces the pin of a download by one pin for each caller.
func (c *cache) repin(b *blob, callers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.pins += callers - 1
	c.evict(0)
}

// unpin removes one pin. A blob without pins may be evicted.
func (c *cache) unpin(b *blob) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b.pins--
	c.evict(0)
}

// makeSpace evicts blobs until a file of the given size fits, or only pinned ones are left.
func (c *cache) makeSpace(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evict(max(bytes, 0))
}

// evict removes the least recently used blobs until needed bytes more fit, or only pinned ones
// are left: then the cache exceeds its limit. The caller holds c.mu.
func (c *cache) evict(needed int64) {
	for e := c.recent.Back(); e != nil && c.total+needed > c.limit; {
		b := e.Value.(*blob)
		e = e.Prev()
		if b.pins == 0 {
			c.removeBlob(b)
		}
	}
}

// removeBlob removes a blob of the cache, its records and their files. A file that cannot be
// removed is found at the next start. The caller holds c.mu.
func (c *cache) removeBlob(b *blob) {
	for key := range b.keys {
		c.removeRecord(key)
	}
	os.Remove(c.path(b.hash))
	c.recent.Remove(b.at)
	delete(c.blobs, b.hash)
	c.total -= b.bytes
}

// add adds a blob whose file has its final name, as the latest used. The caller holds c.mu, or
// has the only reference to c.
func (c *cache) add(hash string, bytes int64) *blob {
	b := &blob{hash: hash, bytes: bytes, keys: map[string]bool{}}
	b.at = c.recent.PushFront(b)
	c.blobs[hash] = b
	c.total += bytes
	return b
}

// staged is a complete download that does not have its final name.
type staged struct {
	path  string
	hash  string
	bytes int64
}

func (s staged) remove() { os.Remove(s.path) }

// stage writes content to a partial file, and removes the file if that fails. It syncs the file, because a power
// loss could leave zeros in a file with its final name.
func (c *cache) stage(content io.Reader) (s staged, err error) {
	f, err := os.CreateTemp(filepath.Join(c.dir, stageFolder), "*")
	if err != nil {
		return s, fileError(err)
	}
	s.path = f.Name()
	defer func() {
		f.Close()
		if err != nil {
			s.remove()
		}
	}()
	s.hash, s.bytes, err = copyHashed(f, content)
	return s, err
}

// copyHashed writes content to a file, syncs the file, and returns the hash and the length of the content.
func copyHashed(f *os.File, content io.Reader) (hash string, bytes int64, err error) {
	sum := sha256.New()
	src := &sourceReader{Reader: content}
	bytes, err = io.Copy(io.MultiWriter(f, sum), src)
	if src.err != nil {
		return "", 0, src.err
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return "", 0, fmt.Errorf("write the cache: %w", fileError(err))
	}
	return hashPrefix + hex.EncodeToString(sum.Sum(nil)), bytes, nil
}

// sourceReader keeps the error of reading, so that it is not taken for one of writing.
type sourceReader struct {
	io.Reader
	err error
}

// Read keeps an error of the source, so that the caller can tell it from one of writing the file.
func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// publish gives a staged file its final name, and returns its blob with a pin. If the cache has the content
// already, or publish fails, the staged file is removed. The caller releases the pin; until then the cache may
// exceed its limit.
func (c *cache) publish(s staged, rec record) (*blob, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.pin(s.hash)
	if b != nil {
		s.remove()
	} else {
		if err := c.rename(s); err != nil {
			s.remove()
			return nil, fmt.Errorf("write the cache: %w", fileError(err))
		}
		b = c.add(s.hash, s.bytes)
		b.pins = 1
	}
	c.setRecord(b, rec)
	return b, nil
}

// rename moves a staged file to the name of its hash. A crash before leaves it in the folder of partial files,
// which the next start empties.
func (c *cache) rename(s staged) error {
	path := c.path(s.hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.Rename(s.path, path)
}
