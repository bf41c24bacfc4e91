package elastic

import (
	"context"
	"log/slog"
	"time"

	"leasehold/shared/code"
)

// How often Run looks for documents to remove.
const (
	collectInterval = time.Minute
	blobsInterval   = time.Hour
)

// Run removes the documents of generations that searches have not found for Grace, and the
// blobs that no generation has named for a day, until ctx ends.
func (x *Index) Run(ctx context.Context, log *slog.Logger) {
	c := newCollector(x)
	for sleep(ctx, collectInterval) {
		if err := c.collect(ctx); err != nil && ctx.Err() == nil {
			log.Warn("code index: old documents cannot be removed now", "error", err)
		}
	}
}

// collector removes documents. It is for one goroutine.
type collector struct {
	*Index
	hidden    map[string]time.Time // when a generation was first found hidden from searches, by id
	replaced  map[string]time.Time // when an index was first found replaced by a copy, by name
	blobsDone time.Time            // when blobs were removed last
}

func newCollector(x *Index) *collector {
	return &collector{Index: x, hidden: map[string]time.Time{}, replaced: map[string]time.Time{}}
}

// collect removes the documents of hidden generations, the entries that others have superseded, and the indices that
// copies have replaced. Once in blobsInterval it also removes old blobs. After an error the next call begins again.
func (c *collector) collect(ctx context.Context) error {
	if err := c.removeHidden(ctx); err != nil {
		return err
	}
	if err := c.removeSuperseded(ctx); err != nil {
		return err
	}
	if err := c.removeReplaced(ctx); err != nil {
		return err
	}
	if time.Since(c.blobsDone) < blobsInterval {
		return nil
	}
	c.prepared.Store(false) // so that settings which were changed are noticed
	if c.blobsDone.IsZero() {
		if err := c.noteStrays(ctx); err != nil {
			return err
		}
	}
	if err := c.removeAlias(ctx); err != nil {
		return err
	}
	if err := c.removeBlobs(ctx); err != nil {
		return err
	}
	c.blobsDone = time.Now()
	return nil
}

// removeHidden removes the generations that have been hidden for Grace, and notes since when the
// others are. A search that began before a generation was hidden has ended by then. No generation
// is published meanwhile (publishing), because a new one is hidden until its last step. The notes of current
// generations are removed, so that there are few. After an error c.hidden stays, so that the times are not lost.
func (c *collector) removeHidden(ctx context.Context) error {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	if err := c.refresh(ctx, generations); err != nil {
		return err
	}
	now, err := c.openLog(ctx)
	if err != nil {
		return err
	}
	if err := c.showViews(ctx); err != nil {
		return err
	}
	hidden := map[string]time.Time{}
	pages := selection{alias: generations, query: everyDocument, order: []string{"generation"}}
	notes := bulk{Index: c.Index}
	for {
		page, err := nextPage[generationDocument](ctx, c.Index, &pages)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, g := range page {
			since, ok := c.hidden[g.Generation]
			switch {
			case now.isCurrent(g.RepoID, g.Generation):
				err = notes.add(ctx, remove, generations, g.Generation, nil)
			case !ok:
				hidden[g.Generation] = time.Now()
			case time.Since(since) < Grace:
				hidden[g.Generation] = since
			default:
				err = c.removeGeneration(ctx, g)
			}
			if err != nil {
				return err
			}
		}
	}
	c.hidden = hidden
	return notes.flush(ctx)
}

// removeReplaced removes the indices that copies have replaced for Grace (Rebuild).
func (c *collector) removeReplaced(ctx context.Context) error {
	for _, index := range rebuilt {
		all, err := c.statesOf(ctx, index)
		if err != nil {
			return err
		}
		for name, s := range all {
			if _, hasAlias := s.Aliases[c.prefix+index]; hasAlias || !s.isReplaced() {
				continue
			}
			if since, known := c.replaced[name]; !known {
				c.replaced[name] = time.Now()
			} else if time.Since(since) >= Grace {
				if err := c.delete(ctx, name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// noteStrays notes the generations that have files and are not current, because the index of notes may have been
// deleted, and then its notes are lost. Generations of this time may be noted twice.
func (c *collector) noteStrays(ctx context.Context) error {
	now, err := c.openLog(ctx)
	if err != nil {
		return err
	}
	var strays []*generation
	err = c.eachCount(ctx, everyDocument, []string{"repo_id", "generation"}, func(f filesCount) {
		if !now.isCurrent(f.repoID, f.generation) {
			strays = append(strays, &generation{ID: f.generation, RepoID: f.repoID})
		}
	})
	if err != nil {
		return err
	}
	for _, g := range strays {
		if err := c.noteGeneration(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// removeGeneration removes the documents of a generation. Its note is removed last: if a request fails, the next
// call finds the generation again.
func (c *collector) removeGeneration(ctx context.Context, g generationDocument) error {
	for _, index := range c.perGeneration() {
		documents := allOf(object{"term": object{"repo_id": g.RepoID}}, object{"term": object{"generation": g.Generation}})
		if err := c.removeAll(ctx, index, documents); err != nil {
			return err
		}
	}
	writes := bulk{Index: c.Index}
	if err := writes.add(ctx, remove, generations, g.Generation, nil); err != nil {
		return err
	}
	return writes.flush(ctx)
}

// removeAll removes the documents that a query matches, page by page, until none is left. It does not use
// _delete_by_query, which not every server has.
func (c *collector) removeAll(ctx context.Context, alias string, query any) error {
	for {
		var answer searchAnswer[struct{}]
		body := object{"size": bulkItems, "query": query, "_source": false, "track_total_hits": false}
		if err := c.post(ctx, alias, "_search", noPartialResults, body, &answer); err != nil {
			return err
		}
		if err := answer.Shards.requireAll("search of " + alias); err != nil {
			return err
		}
		if len(answer.Hits.Hits) == 0 {
			return nil
		}
		writes := bulk{Index: c.Index}
		for _, h := range answer.Hits.Hits {
			if err := writes.add(ctx, remove, alias, h.ID, nil); err != nil {
				return err
			}
		}
		if err := writes.flush(ctx); err != nil {
			return err
		}
		if err := c.refresh(ctx, alias); err != nil {
			return err
		}
	}
}

// removeBlobs removes the blobs that were put more than keep ago and that no file has, page by
// page.
func (c *collector) removeBlobs(ctx context.Context) error {
	old := object{"range": object{"put": object{"lt": time.Now().Add(-keep).UnixMilli()}}}
	pages := selection{alias: blobs, query: old, order: []string{"oid"}}
	for {
		page, err := nextBlobs(ctx, c.Index, &pages)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := c.removeUnnamed(ctx, page); err != nil {
			return err
		}
	}
}

// removeUnnamed removes those of a page of blobs that no file has. It holds publishing, because a
// generation published meanwhile could name one of them. After an error of namedOf it removes none.
func (c *collector) removeUnnamed(ctx context.Context, page []blobSize) error {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	if err := c.refresh(ctx, files); err != nil {
		return err
	}
	ids := idsOf(page)
	named, err := c.namedOf(ctx, ids)
	if err != nil {
		return err
	}
	writes := bulk{Index: c.Index}
	for _, id := range ids {
		if named[id] {
			continue
		}
		if err := writes.add(ctx, remove, blobs, string(id), nil); err != nil {
			return err
		}
	}
	return writes.flush(ctx)
}

// namedOf returns those of ids, at most pageSize, that files have. "collapse" returns one file for
// each blob, so one page of files answers for all ids. It fails if a part of the index does not
// answer, because files could be missing.
func (c *collector) namedOf(ctx context.Context, ids []code.OID) (map[code.OID]bool, error) {
	var answer searchAnswer[struct{}]
	body := object{"size": pageSize, "query": object{"terms": object{"oid": ids}}, "collapse": object{"field": "oid"}, "_source": false, "docvalue_fields": []string{"oid"}, "track_total_hits": false}
	if err := c.post(ctx, files, "_search", noPartialResults, body, &answer); err != nil {
		return nil, err
	}
	if err := answer.Shards.requireAll("search of " + files); err != nil {
		return nil, err
	}
	named := map[code.OID]bool{}
	for _, h := range answer.Hits.Hits {
		for _, id := range h.Fields.OID {
			named[id] = true
		}
	}
	return named, nil
}
