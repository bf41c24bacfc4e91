package code

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Store is an index that takes segments.
type Store interface {
	code.Searcher
	code.Lister
	// PutSegment moves a segment file into the index, durably, and checks it.
	PutSegment(ctx context.Context, batchID, path string) error
}

// Origins are the origins of the catalog.
type Origins interface {
	Origin(ctx context.Context, id string) (models.Origin, error)
}

// Index is the code index of a coordinator. Its methods may be called concurrently.
type Index struct {
	Store
	origins Origins
	uploads uploads

	fetching   atomic.Bool // see VisitLacking
	publishing sync.Mutex  // held while a generation is published or removed
}

// New returns the index over a store, and removes the unfinished uploads of an earlier process from the folder
// dir, in which it keeps its own. The caller closes the store. It fails with fault.ErrFolder if that folder
// cannot be used.
func New(dir string, store Store, origins Origins) (*Index, error) {
	if err := platform.MakeFolder(dir, 0o700); err != nil {
		return nil, fmt.Errorf("uploads of the code index: %w: %w", fault.ErrFolder, err)
	}
	x := &Index{Store: store, origins: origins, uploads: uploads{dir: dir, busy: map[string]bool{}}}
	return x, x.uploads.removeOld(0)
}

// Publish replaces the generation of an origin. It fails with fault.ErrNotFound if the origin was removed, and
// with fault.ErrConflict if blobs of it are missing. It holds publishing, so that a DropRepo after the removal of
// the origin finds the generation published here.
func (x *Index) Publish(ctx context.Context, m code.Manifest) error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if _, err := x.origins.Origin(ctx, m.RepoID); err != nil {
		return fmt.Errorf("publish %s: %w", m.Repo, err)
	}
	return x.Store.Publish(ctx, m)
}

// DropRepo removes the generation of an origin, which the caller has removed from the catalog before.
func (x *Index) DropRepo(ctx context.Context, id string) error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	return x.Store.DropRepo(ctx, id)
}

// Complete reports whether the origin has a generation and all blobs of it are indexed. It is false after files
// of the index were lost or the folder was restored from a backup; then a manager indexes the origin although it
// has not changed.
func (x *Index) Complete(ctx context.Context, id string) (bool, error) {
	if s, ok := x.Store.(interface {
		Repo(ctx context.Context, id string) (r code.RepoInfo, exists bool, err error)
	}); ok {
		r, exists, err := s.Repo(ctx, id)
		return exists && r.Lost == 0, err
	}
	repos, err := x.Repos(ctx)
	return slices.ContainsFunc(repos, func(r code.RepoInfo) bool { return r.ID == id && r.Lost == 0 }), err
}

// Waits returns since when requests wait for a search server, and why; nil if none do.
func (x *Index) Waits() (since time.Time, err error) {
	if s, ok := x.Store.(interface{ Waits() (time.Time, error) }); ok {
		return s.Waits()
	}
	return since, nil
}

// Cluster returns the id of the cluster that the search server belongs to; empty if there is none, or it is not known yet.
func (x *Index) Cluster() string {
	if s, ok := x.Store.(interface{ Cluster() string }); ok {
		return s.Cluster()
	}
	return ""
}

// Lacks returns what the index in the folder should have and does not, because files of it were
// removed. It sends no request to a search server, whose losses lostRepos finds.
func (x *Index) Lacks() (code.Lack, error) {
	if s, ok := x.Store.(interface{ Lacks() (code.Lack, error) }); ok {
		return s.Lacks()
	}
	return code.Lack{}, nil
}

// lostRepos returns the repositories that searches do not see as a whole.
func (x *Index) lostRepos(ctx context.Context) ([]code.RepoInfo, error) {
	lack, err := x.Lacks()
	if err != nil || len(lack.Repos) > 0 {
		return lack.Repos, err
	}
	repos, err := x.Repos(ctx)
	return slices.DeleteFunc(repos, func(r code.RepoInfo) bool { return r.Lost == 0 }), err
}

// VisitLacking calls visit with the origins of the repositories that the index does not have as a
// whole, which indexes them again. From then on searches tell that missing files are fetched.
func (x *Index) VisitLacking(ctx context.Context, visit func(context.Context, []models.Origin) error) error {
	lost, err := x.lostRepos(ctx)
	if err != nil {
		return err
	}
	var lacking []models.Origin
	for _, r := range lost {
		o, err := x.origins.Origin(ctx, r.ID)
		if errors.Is(err, fault.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		lacking = append(lacking, o)
	}
	x.fetching.Store(true)
	if len(lacking) == 0 {
		return nil
	}
	return visit(ctx, lacking)
}

// isFetched reports whether the missing files come back by the visits that VisitLacking asked for: no such
// visit has failed since.
func (x *Index) isFetched(ctx context.Context) bool {
	if !x.fetching.Load() {
		return false
	}
	lost, err := x.lostRepos(ctx)
	for _, r := range lost {
		o, originErr := x.origins.Origin(ctx, r.ID)
		if originErr != nil || o.LastError != "" {
			return false
		}
	}
	return err == nil
}

// DropRemoved removes the generations of origins that are no longer in the catalog, because they were removed
// while the index could not be used. After an error, repositories before it stay removed.
func (x *Index) DropRemoved(ctx context.Context) error {
	repos, err := x.Repos(ctx)
	if err != nil {
		return err
	}
	lack, err := x.Lacks() // a repository whose list of files is missing is not in repos
	if err != nil {
		return err
	}
	for _, r := range append(repos, lack.Repos...) {
		_, err := x.origins.Origin(ctx, r.ID)
		if errors.Is(err, fault.ErrNotFound) {
			err = x.DropRepo(ctx, r.ID)
		}
		if err != nil {
			return fmt.Errorf("code index: repository %s: %w", r.Repo, err)
		}
	}
	return nil
}

// Put puts blobs that this process has analysed. It builds the segment itself, so the name that it returns is
// empty.
func (x *Index) Put(ctx context.Context, batch string, blobs []code.Blob) (segment string, err error) {
	return "", x.PutBlobs(ctx, batch, blobs)
}

// Dir returns the folder of the uploads.
func (x *Index) Dir() string { return filepath.Clean(x.uploads.dir) }
