package elastic

import (
	"context"
	"errors"
	"fmt"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// PutBlobs writes those of all that the server does not have. If several have one object id, it
// takes the first. It fails with fault.ErrInvalid for a malformed object id. After an error, which
// names the batch, some may be written, and the batch may be put again.
func (x *Index) PutBlobs(ctx context.Context, batchID string, all []code.Blob) error {
	if err := x.putBlobs(ctx, all); err != nil {
		return fmt.Errorf("batch %s: %w", batchID, err)
	}
	return nil
}

// SkipRefused is the reason of a blob without an index, because the server answers 413 to a request with it alone.
const SkipRefused = "larger than the search server accepts (http.max_content_length)"

// refused returns the blob that stands for one which is too large for the server.
func refused(b code.Blob) code.Blob {
	b.Size, b.Content, b.Skipped = max(b.Size, int64(len(b.Content))), nil, SkipRefused
	return b
}

// putBlobs writes those of the blobs that the server does not have; of several with one id the
// first. A blob that exists by now counts as created, because its content is the same. One too large for the
// server is skipped with SkipRefused.
func (x *Index) putBlobs(ctx context.Context, all []code.Blob) error {
	ids := make([]code.OID, len(all))
	first := make(map[code.OID]code.Blob, len(all))
	for i, b := range all {
		ids[i] = b.OID
		if _, ok := first[b.OID]; !ok {
			first[b.OID] = b
		}
	}
	missing, err := x.Missing(ctx, ids)
	if err != nil {
		return err
	}
	writes := bulk{Index: x, smaller: func(id string) (any, error) { return x.newBlob(refused(first[code.OID(id)])) }}
	for _, id := range missing {
		b, err := x.newBlob(first[id])
		if err != nil {
			return err
		}
		if err := writes.add(ctx, create, blobs, string(b.OID), b); err != nil {
			return err
		}
	}
	return writes.flush(ctx)
}

// Put is PutBlobs for workers that use the server themselves. The segment is "", because they build
// none.
func (x *Index) Put(ctx context.Context, batch string, all []code.Blob) (segment string, err error) {
	return "", x.PutBlobs(ctx, batch, all)
}

// PutSegment writes the blobs of a segment, which a worker built that does not use the server
// itself. It fails with fault.ErrCorrupt if the file is damaged, and with fault.ErrInvalid for a
// merged segment.
func (x *Index) PutSegment(ctx context.Context, batchID, path string) (err error) {
	s, err := segment.Open(path)
	if err != nil {
		return fmt.Errorf("batch %s: %w", batchID, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Verify(); err != nil {
		return fmt.Errorf("batch %s: %w", batchID, err)
	}
	if len(s.Replaces()) > 0 {
		return fmt.Errorf("batch %s: segment %s: it replaces others: want one that was built, not merged: %w", batchID, path, fault.ErrInvalid)
	}
	all := make([]code.Blob, s.Blobs())
	for i := range all {
		var buffer []byte
		text, err := s.Text(i, &buffer)
		if err != nil {
			return fmt.Errorf("batch %s: %w", batchID, err)
		}
		all[i] = code.Blob{OID: s.OID(i), Content: text, BlobInfo: s.Info(i), Functions: s.Functions(i)}
		s.Symbols(i, func(_ int, read func() code.Symbol) bool {
			all[i].Symbols = append(all[i].Symbols, read())
			return true
		})
	}
	return x.PutBlobs(ctx, batchID, all)
}
