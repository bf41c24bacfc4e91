package elastic

import (
	"context"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
)

// copyBlobs copies the blobs that a query matches and the new index lacks.
func (r *rebuild) copyBlobs(ctx context.Context, query any) error {
	pages := blobPages(query)
	for {
		page, err := nextBlobs(ctx, r.Index, &pages)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := r.copyMissing(ctx, page); err != nil {
			return err
		}
		r.state.Blobs += len(page)
		r.tell()
	}
}

// tell reports how far the rebuild has come.
func (r *rebuild) tell() {
	r.state.Blobs = min(r.state.Blobs, r.state.AllBlobs) // a blob may be seen twice
	r.report(r.state)
}

// copyMissing copies those of some blobs, at most idsAtOnce, that the new index lacks. It reads texts in groups of
// bounded size.
func (r *rebuild) copyMissing(ctx context.Context, some []blobSize) error {
	there, err := readMany[blob](ctx, r.Index, next(blobs), asStrings(idsOf(some)), "")
	if err != nil {
		return err
	}
	var missing []blobSize
	for i, b := range some {
		if there[i] == nil {
			missing = append(missing, b)
		}
	}
	t := r.trigrams.Get().(*segment.Trigrams)
	defer r.trigrams.Put(t)
	writes := bulk{Index: r.Index}
	for group := range inGroups(missing, func(b blobSize) int64 { return b.Size }) {
		err := r.eachBlob(ctx, idsOf(group), wholeDocument, func(id code.OID, b *blob) error {
			if b == nil {
				return nil // it was removed meanwhile
			}
			b.setTrigrams(t)
			return writes.add(ctx, create, next(blobs), string(id), b)
		})
		if err != nil {
			return err
		}
	}
	return writes.flush(ctx)
}

// copyCurrent copies the files of the current generations that it has not copied yet, and returns how many of these
// there were.
func (r *rebuild) copyCurrent(ctx context.Context) (n int, err error) {
	now, err := r.current(ctx)
	if err != nil {
		return 0, err
	}
	for _, g := range now.sorted() {
		if r.copied[g.ID] {
			continue
		}
		if err := r.copyFiles(ctx, g.ID); err != nil {
			return n, err
		}
		r.copied[g.ID] = true
		n++
	}
	return n, nil
}

// copyRest copies the files of all generations that it has not copied yet, while the server refuses writes of files. A
// generation may become current meanwhile, and Run may remove the notes of current ones; so it looks until it finds no
// further one.
func (r *rebuild) copyRest(ctx context.Context) error {
	for {
		noted, err := r.copyNoted(ctx)
		if err != nil {
			return err
		}
		current, err := r.copyCurrent(ctx)
		if err != nil || noted+current == 0 {
			return err
		}
	}
}

// copyNoted copies the files of generations that are not current: searches may still read them, or they are being
// published. It returns how many it has copied.
func (r *rebuild) copyNoted(ctx context.Context) (n int, err error) {
	if err := r.refresh(ctx, generations); err != nil {
		return 0, err
	}
	pages := selection{alias: generations, query: everyDocument, order: []string{"generation"}}
	for {
		page, err := nextPage[generationDocument](ctx, r.Index, &pages)
		if err != nil || len(page) == 0 {
			return n, err
		}
		for _, g := range page {
			if r.copied[g.Generation] {
				continue
			}
			if err := r.copyFiles(ctx, g.Generation); err != nil {
				return n, err
			}
			r.copied[g.Generation] = true
			n++
		}
	}
}

// copyFiles copies the files of a generation, unless the new index has all of them, and those of its blobs that the new
// index lacks.
func (r *rebuild) copyFiles(ctx context.Context, generation string) error {
	ofGeneration := object{"term": object{"generation": generation}}
	var counts [2]int
	for i, alias := range []string{files, next(files)} {
		var err error
		if counts[i], err = r.count(ctx, alias, ofGeneration); err != nil {
			return err
		}
	}
	r.state.Files += counts[0]
	if counts[1] >= counts[0] {
		return nil
	}
	t := r.trigrams.Get().(*segment.Trigrams)
	defer r.trigrams.Put(t)
	writes := bulk{Index: r.Index}
	pages := selection{alias: files, query: ofGeneration, order: []string{"key"}}
	for {
		page, err := nextPage[*file](ctx, r.Index, &pages)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return writes.flush(ctx)
		}
		if err := r.copyMissing(ctx, blobsOf(page)); err != nil {
			return err
		}
		for _, f := range page {
			f.PathTri = terms(t.Of(f.Place.Path))
			if err := writes.add(ctx, create, next(files), f.Key, f); err != nil {
				return err
			}
		}
		r.tell()
	}
}

// blobsOf returns the blobs of files, each once, with the sizes of their texts.
func blobsOf(all []*file) (some []blobSize) {
	seen := map[code.OID]bool{}
	for _, f := range all {
		if !seen[f.OID] {
			some = append(some, blobSize{f.OID, f.textSize()})
		}
		seen[f.OID] = true
	}
	return some
}
