package codetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// Naive is the simplest index: maps, and a search that reads everything. It has no limits
// of time and memory, and never removes a blob.
type Naive struct {
	mu    sync.Mutex // guards blobs and repos
	blobs map[code.OID]code.Blob
	repos map[string]code.Manifest // by repository id
}

// NewNaive returns an empty index.
func NewNaive() *Naive {
	return &Naive{blobs: map[code.OID]code.Blob{}, repos: map[string]code.Manifest{}}
}

// Missing returns those of ids that were not put, each once. fault.ErrInvalid: one is not an
// object id.
func (n *Naive) Missing(_ context.Context, ids []code.OID) ([]code.OID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var missing []code.OID
	asked := map[code.OID]bool{}
	for _, id := range ids {
		if err := id.Check(); err != nil {
			return nil, err
		}
		if _, ok := n.blobs[id]; !ok && !asked[id] {
			missing = append(missing, id)
		}
		asked[id] = true
	}
	return missing, nil
}

// PutBlobs keeps copies of blobs that it does not have. It checks all ids first, so that a batch is
// put as a whole or, with fault.ErrInvalid, not at all. A skipped blob keeps its name and no
// content.
func (n *Naive) PutBlobs(_ context.Context, batchID string, blobs []code.Blob) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range blobs {
		if err := b.OID.Check(); err != nil {
			return fmt.Errorf("batch %s: %w", batchID, err)
		}
	}
	for _, b := range blobs {
		if _, ok := n.blobs[b.OID]; ok {
			continue
		}
		if b.Skipped == "" {
			b.Skipped = skipReason(b.Content)
		}
		b.Content = slices.Clone(b.Content)
		if b.Skipped != "" {
			b.Content, b.Symbols, b.Functions = nil, nil, nil
		}
		lines := len(linesOf(b.Content))
		b.Symbols = slices.DeleteFunc(slices.Clone(b.Symbols), func(x code.Symbol) bool { return x.Line < 1 || x.Line > lines })
		n.blobs[b.OID] = b
	}
	return nil
}

// Publish replaces a repository's files. It fails with fault.ErrInvalid for a manifest out of
// range, and fault.ErrConflict for a blob that was not put.
func (n *Naive) Publish(_ context.Context, m code.Manifest) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := m.Check(); err != nil {
		return err
	}
	for _, id := range m.OIDs() {
		if _, ok := n.blobs[id]; !ok {
			return fmt.Errorf("repository %q: blob %s is not indexed: %w", m.Repo, id, fault.ErrConflict)
		}
	}
	n.repos[m.RepoID] = m
	return nil
}

// Complete reports whether a repository was published.
func (n *Naive) Complete(repoID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, ok := n.repos[repoID]
	return ok
}

// DropRepo forgets a repository's files. It never fails, also for an unknown id.
func (n *Naive) DropRepo(_ context.Context, repoID string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.repos, repoID)
	return nil
}

// Search reads all files of all repositories, and delivers the matches when it has them all.
func (n *Naive) Search(ctx context.Context, q code.Query, o code.Options, visit func(code.Match) bool) (code.Stats, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	began := time.Now()
	s, err := newNaiveSearch(q, o)
	if err != nil {
		return code.Stats{}, err
	}
	for _, id := range slices.Sorted(maps.Keys(n.repos)) {
		if ctx.Err() != nil {
			return code.Stats{}, context.Cause(ctx)
		}
		s.searchRepo(n.repos[id], n.blobs)
	}
	s.deliver(visit)
	s.stats.Elapsed = time.Since(began)
	return s.stats, nil
}

// skipReason is code.SkipReason with the limit of trigrams, which are counted here
// without folding case, in each line.
func skipReason(content []byte) string {
	if reason := code.SkipReason(content); reason != "" {
		return reason
	}
	trigrams := map[[3]byte]bool{}
	for _, line := range linesOf(content) {
		for ; len(line) >= 3; line = line[1:] {
			trigrams[[3]byte(line)] = true
		}
	}
	if len(trigrams) > code.MaxTrigrams {
		return code.SkipTrigrams
	}
	return ""
}
