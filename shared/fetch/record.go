package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
)

// maxURIs limits the URIs of one blob, because trackers generate a URI for each listener.
const maxURIs = 64

// A record has the hash of the content that a URI returned, and the validators for a
// conditional request. It is a file that only its owner can read, because URLs may contain
// secrets.
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

// updateRecord replaces the record of a blob's URI.
func (c *cache) updateRecord(b *blob, rec record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setRecord(b, rec)
}

// setRecord is updateRecord for a caller that holds c.mu. If the file cannot be written, the
// content is downloaded again after the next start.
func (c *cache) setRecord(b *blob, rec record) {
	if was, ok := c.records[rec.URI]; ok {
		if other := c.blobs[was.Hash]; other != nil && other != b {
			delete(other.uris, rec.URI)
		}
	}
	for uri := range b.uris {
		if len(b.uris) < maxURIs || b.uris[rec.URI] {
			break
		}
		c.removeRecord(uri)
		delete(b.uris, uri)
	}
	b.uris[rec.URI] = true
	c.records[rec.URI] = rec
	_ = writeRecord(c.recordPath(rec.URI), rec)
}

func (c *cache) removeRecord(uri string) {
	delete(c.records, uri)
	os.Remove(c.recordPath(uri))
}

// writeRecord renames a complete file, so that a crash leaves the old record or the new one.
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
