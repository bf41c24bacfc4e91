package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"leasehold/shared/fault"
)

// maxURIs limits the URIs of one blob, because trackers generate a URI for each listener.
const maxURIs = 64

// A record has the hash of the content that a URI returned, and the validators for a
// conditional request. It has the hash of the URI, because URLs may contain secrets.
type record struct {
	Key          string `json:"key"` // keyOf the URI
	Version      string `json:"version,omitempty"`
	Hash         string `json:"hash"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Sum          uint32 `json:"sum,omitempty"` // CRC-32C of the record without it; 0 in records of earlier versions
}

// sum returns the check sum of a record.
func (r record) sum() uint32 {
	r.Sum = 0
	content, _ := json.Marshal(r) // strings, so it cannot fail
	return crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
}

// readRecord reads a record, and fails with fault.ErrCorrupt if it was changed or cut.
func readRecord(path string) (rec record, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(content, &rec); err != nil {
		return rec, fmt.Errorf("%s: %w: %w", path, fault.ErrCorrupt, err)
	}
	if rec.Sum != 0 && rec.Sum != rec.sum() {
		return rec, fmt.Errorf("%s: its check sum is %d and not %d: %w", path, rec.sum(), rec.Sum, fault.ErrCorrupt)
	}
	return rec, nil
}

// keyOf identifies a URI.
func keyOf(uri string) string {
	sum := sha256.Sum256([]byte(uri))
	return hex.EncodeToString(sum[:])
}

// recordPath returns the file of the record of a key.
func (c *cache) recordPath(key string) string {
	return filepath.Join(c.dir, recordFolder, key[:2], key+".json")
}

// updateRecord replaces the record of a blob's URI.
func (c *cache) updateRecord(b *blob, rec record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setRecord(b, rec)
}

// setRecord records that the URI of rec returned b, for a caller that holds c.mu. A blob
// keeps maxURIs of them: beyond that, an arbitrary other one is removed.
func (c *cache) setRecord(b *blob, rec record) {
	if before := c.blobs[c.records[rec.Key].Hash]; before != nil {
		delete(before.keys, rec.Key)
	}
	for key := range b.keys {
		if len(b.keys) < maxURIs {
			break
		}
		c.removeRecord(key)
		delete(b.keys, key)
	}
	b.keys[rec.Key] = true
	c.records[rec.Key] = rec
	writeRecord(c.recordPath(rec.Key), rec)
}

// removeRecord removes the record of a key and its file. The caller holds c.mu, and removes the
// key from its blob.
func (c *cache) removeRecord(key string) {
	delete(c.records, key)
	os.Remove(c.recordPath(key))
}

// writeRecord writes a record to another file and renames that, so that a crash leaves the old
// record or the new one. If it fails, the content is downloaded again after the next start.
func writeRecord(path string, rec record) {
	rec.Sum = rec.sum()
	content, _ := json.Marshal(rec) // strings and a number, so it cannot fail
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	partial := path + ".partial"
	if os.WriteFile(partial, content, 0o600) == nil {
		_ = os.Rename(partial, path)
	}
}
