package fetch

import (
	"cmp"
	"container/list"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"leasehold/shared/process/platform"
)

// openCache loads the cache of an earlier process: the blobs in the order of their last use, and the records of
// these blobs. It removes unfinished downloads and records without a blob, and blobs beyond the limit.
func openCache(dir string, limit int64) (*cache, error) {
	c := &cache{
		dir: dir, limit: limit,
		blobs: map[string]*blob{}, records: map[string]record{}, recent: list.New(),
	}
	if err := os.RemoveAll(filepath.Join(dir, stageFolder)); err != nil {
		return nil, fileError(err)
	}
	for _, sub := range []string{blobFolder, recordFolder, stageFolder} {
		if err := platform.MakeFolder(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fileError(err)
		}
	}
	if err := c.loadBlobs(); err != nil {
		return nil, err
	}
	if err := c.loadRecords(); err != nil {
		return nil, err
	}
	c.evict(0)
	return c, nil
}

// loadBlobs adds the blobs in the order of their file times, which pin sets, so that the least recently used is
// at the end of the list. Files with names of another form are left out. After an error some blobs are added.
func (c *cache) loadBlobs() error {
	type found struct {
		hash  string
		bytes int64
		used  time.Time
	}
	var all []found
	err := eachFile(filepath.Join(c.dir, blobFolder), func(path string, info fs.FileInfo) {
		hash := hashPrefix + filepath.Base(path)
		if wellFormedHash.MatchString(hash) && c.path(hash) == path {
			all = append(all, found{hash, info.Size(), info.ModTime()})
		}
	})
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.hash, b.hash))
	})
	for _, f := range all {
		c.add(f.hash, f.bytes)
	}
	return err
}

// loadRecords loads the records of the blobs, and removes the others. So it must follow
// loadBlobs.
func (c *cache) loadRecords() error {
	return eachFile(filepath.Join(c.dir, recordFolder), func(path string, _ fs.FileInfo) {
		rec, err := readRecord(path)
		b := c.blobs[rec.Hash]
		if err != nil || b == nil || !wellFormedHash.MatchString(hashPrefix+rec.Key) || c.recordPath(rec.Key) != path {
			os.Remove(path)
			return
		}
		b.keys[rec.Key] = true
		c.records[rec.Key] = rec
	})
}

// eachFile calls do for each regular file below dir, in lexical order.
func eachFile(dir string, do func(path string, info fs.FileInfo)) error {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			do(path, info)
		}
		return err
	})
	if err != nil {
		return fileError(err)
	}
	return nil
}
