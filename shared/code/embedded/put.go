package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// PutBlobs writes those of blobs that no segment has into one new segment, and opens it for
// searches. If several of blobs have one object id, it takes the first. The error names the batch.
func (x *Index) PutBlobs(ctx context.Context, batchID string, blobs []code.Blob) error {
	if err := x.putBlobs(ctx, blobs); err != nil {
		return fmt.Errorf("batch %s: %w", batchID, err)
	}
	return nil
}

// putBlobs writes a segment of those of the blobs that the index does not have, and opens it for
// searches; of several with one id the first counts. It does nothing if all are there. It takes no
// lock while it writes, because it is slow: if two calls write the same blob, searches use the
// first copy, and merging drops the other. The segment is durable before openAdded; after a crash
// in between Open finds it.
func (x *Index) putBlobs(ctx context.Context, blobs []code.Blob) error {
	if x.options.ReadOnly {
		_, err := x.viewToWrite() // the error for a read-only index
		return err
	}
	ids := make([]code.OID, len(blobs))
	for i, b := range blobs {
		ids[i] = b.OID
	}
	missing, err := x.Missing(ctx, ids)
	if err != nil || len(missing) == 0 {
		return err
	}
	first := make(map[code.OID]code.Blob, len(missing))
	for _, b := range blobs {
		if _, ok := first[b.OID]; !ok {
			first[b.OID] = b
		}
	}
	batch := make([]code.Blob, len(missing))
	for i, id := range missing {
		batch[i] = first[id]
	}
	path, err := segment.Write(ctx, x.segments, batch, segment.Options{Compress: x.options.Compress})
	if err = cmp.Or(err, x.reached("segment written")); err != nil {
		return err
	}
	if err := x.keep(ctx, segmentEntry(path), path); err != nil {
		return err
	}
	return x.openAdded(path)
}

// openAdded opens the segment at path, which is in the folder already, for searches. It returns nil
// if the segment is open, because two batches with the same blobs make the same file.
func (x *Index) openAdded(path string) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	v, err := x.viewToWrite()
	if err != nil {
		return err
	}
	for _, p := range v.parts {
		if p.path == path {
			return nil
		}
	}
	s, err := segment.Open(path)
	if err != nil {
		return err
	}
	w := v.withSegment(newOpenSegment(s, path))
	if err := cmp.Or(x.inventory.add(segmentEntry(path)), x.forgetMissing(v, w)); err != nil {
		return errors.Join(err, s.Close())
	}
	x.install(w)
	x.requestMerge()
	return nil
}

// PutSegment moves the segment file at path, which another process built, into the index; it is
// durable when PutSegment returns. The file is on the file system of the index, and its name is its
// SHA-256 and segment.Extension. It returns fault.ErrCorrupt, and leaves the file where it is, if
// its name is not its hash, if the file is damaged or not a segment, or if a text does not have the
// object id of its blob. Putting the same file again changes nothing.
func (x *Index) PutSegment(ctx context.Context, batchID, path string) error {
	if err := x.putSegment(ctx, path); err != nil {
		return fmt.Errorf("batch %s: %w", batchID, err)
	}
	return nil
}

// putSegment checks the segment file at path, moves it into the folder of segments, and opens it
// for searches. It checks all of it first (Verify), because another machine made it: damage gives
// fault.ErrCorrupt, a merged segment fault.ErrInvalid, because it would replace others. The file is
// synced before it is moved, so that a crash leaves no segment without content.
func (x *Index) putSegment(ctx context.Context, path string) error {
	if x.options.ReadOnly {
		_, err := x.viewToWrite() // the error for a read-only index
		return err
	}
	s, err := segment.Open(path)
	if err != nil {
		return err
	}
	err = s.Verify()
	if err == nil && len(s.Replaces()) > 0 {
		err = fmt.Errorf("segment %s: it replaces others: want one that was built, not merged: %w", path, fault.ErrInvalid)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	target := filepath.Join(x.segments, filepath.Base(path))
	if err := platform.SyncFile(path); err != nil {
		return err
	}
	if err := os.Rename(path, target); err != nil {
		return err
	}
	if err := cmp.Or(platform.SyncDir(x.segments), x.reached("segment moved")); err != nil {
		return err
	}
	if err := x.keep(ctx, segmentEntry(target), target); err != nil {
		return err
	}
	return x.openAdded(target)
}

// Publish writes m as its repository's generation, durably, and then makes later searches use it.
// It returns fault.ErrInvalid if m is out of range, fault.ErrConflict if a blob of m is in no
// segment, and errors of the system; then searches use the generation before.
func (x *Index) Publish(ctx context.Context, m code.Manifest) error {
	if err := m.Check(); err != nil {
		return err
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	v, err := x.viewToWrite()
	if err != nil {
		return err
	}
	for _, id := range m.OIDs() {
		if _, _, ok := v.findBlob(id); !ok {
			return fmt.Errorf("repository %q: blob %s is not indexed: %w", m.Repo, id, fault.ErrConflict)
		}
	}
	g, err := writeGeneration(x.repos, m, x.reached)
	if err != nil {
		return fmt.Errorf("repository %q: %w", m.Repo, err)
	}
	w, entry := v.withGeneration(g), generationEntry(m.RepoID, m.Repo)
	err = x.keep(ctx, entry, generationPath(x.repos, m.RepoID))
	if err == nil {
		err = cmp.Or(x.inventory.add(entry), x.forgetMissing(v, w))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("repository %q: %w", m.Repo, err), g.close())
	}
	x.install(w)
	x.requestMerge()
	return nil
}

// DropRepo removes the repository's generation, first from the folder, then from later searches, so
// that a crash does not bring it back. It returns nil if there is none. Merging drops its blobs
// later. After an error, searches may still see the generation.
func (x *Index) DropRepo(ctx context.Context, repoID string) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	v, err := x.viewToWrite()
	if err != nil {
		return err
	}
	w, dropped := v.withoutRepo(repoID)
	if w == v {
		return nil
	}
	name := generationEntry(repoID, "").Name
	if err := x.drop(ctx, name); err != nil {
		return fmt.Errorf("repository %q: %w", repoID, err)
	}
	if err := cmp.Or(x.inventory.remove(name), x.forgetMissing(v, w)); err != nil {
		return fmt.Errorf("repository %q: %w", repoID, err)
	}
	if dropped == nil { // its file was missing
		x.install(w)
		return nil
	}
	if err := os.Remove(generationPath(x.repos, repoID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("repository %q: %w", dropped.repo, err)
	}
	if err := cmp.Or(platform.SyncDir(x.repos), x.reached("generation removed")); err != nil {
		return fmt.Errorf("repository %q: %w", dropped.repo, err)
	}
	x.install(w)
	x.requestMerge()
	return nil
}
