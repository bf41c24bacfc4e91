package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// maxURIs bounds how many URIs one content is known by; trackers make up a new
// one for each listener.
const maxURIs = 64

// A record is what a URI gave, and how to ask whether it still would. It is a
// small file, readable by its owner only: URLs may carry secrets.
type record struct {
	URI          string `json:"uri"`
	Version      string `json:"version,omitempty"`
	Hash         string `json:"hash"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

func (c *cache) recordPath(uri string) string {
	sum := sha256.Sum256([]byte(uri))
	name := hex.EncodeToString(sum[:])
	return filepath.Join(c.dir, recordFolder, name[:2], name+".json")
}

// note replaces the record of a blob's URI. A record that cannot be written is
// one download too many after the next start, and no error.
func (c *cache) note(b *blob, rec record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(b, rec)
}

func (c *cache) remember(b *blob, rec record) {
	if was, ok := c.records[rec.URI]; ok {
		if other := c.blobs[was.Hash]; other != nil && other != b {
			delete(other.uris, rec.URI)
		}
	}
	for uri := range b.uris {
		if len(b.uris) < maxURIs || b.uris[rec.URI] {
			break
		}
		c.forget(uri)
		delete(b.uris, uri)
	}
	b.uris[rec.URI] = true
	c.records[rec.URI] = rec
	_ = writeRecord(c.recordPath(rec.URI), rec)
}

func (c *cache) forget(uri string) {
	delete(c.records, uri)
	os.Remove(c.recordPath(uri))
}

func writeRecord(path string, rec record) error {
	content, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	partial := path + ".partial"
	if err := os.WriteFile(partial, content, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
