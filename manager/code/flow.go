package code

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"leasehold/manager/git"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/code"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

// Index is the part of the code index that managers use. Its methods may be called concurrently; Missing and
// Publish work as in code.Searcher.
type Index interface {
	Missing(ctx context.Context, ids []code.OID) ([]code.OID, error)
	// Complete reports whether an origin was published, and no file of it was lost since.
	Complete(ctx context.Context, id string) (bool, error)
	Publish(ctx context.Context, m code.Manifest) error
}

// Config is the configuration of a Flow.
type Config struct {
	Catalog catalog.Catalog
	Fetch   *fetch.Fetcher
	Index   Index // nil: origins are visited by their refs only
	Mirrors *gitrepo.Store
	Content *Content // serves the files of batches to workers
	Wanted  gitrepo.Wanted
	Timeout time.Duration // of a task
	Look    time.Duration // how often to check for capacity, and for batches that were lost
	Log     *slog.Logger
}

// Flow visits and indexes repositories and folders (manager.Flow). Several flows, in one
// process or in many, may work on one catalog.
type Flow struct {
	Config
	refs  git.Flow
	slots chan struct{} // one for each job that may run
	queue queue

	mu      sync.Mutex // guards session and changed
	session space.Repository
	changed chan struct{} // closed when session changes
}

// jobs is how many origins a manager indexes at a time. Each has the list of its files in
// memory.
const jobs = 2

// NewFlow returns a flow, ready to run. It sets how c.Content checks leases, so a Content belongs to one flow.
func NewFlow(c Config) *Flow {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	f := &Flow{
		Config: c, refs: git.Flow{Catalog: c.Catalog, Fetch: c.Fetch, Log: c.Log}, slots: make(chan struct{}, jobs),
		queue: queue{wake: make(chan struct{}, 1)}, changed: make(chan struct{}),
	}
	if c.Content != nil {
		c.Content.authorise = f.authorise
	}
	return f
}

// Visit visits an origin and, if it has changed since the last visit whose files were all published, or if the
// index has lost files of it, indexes it. It reads the origin from the catalog and takes only the id, Listed and
// the known state from the visit, because any client may put a visit. The digest of an outcome has a prefix if
// the files of these branches were published; one without it, or of other branches, counts as not known, so that
// the origin is indexed. The digest is empty if files could not be read, so that the next visit tries again. At
// most jobs origins are indexed at a time. With an error, the outcome has at most the Retry-After of the server.
func (f *Flow) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	o, err := catalog.Find(ctx, f.Log, f.Catalog, v.Origin.ID)
	if err != nil {
		return models.Outcome{}, err
	}
	o.Listed = o.Listed || v.Listed
	prefix := f.digestPrefix(o)
	known := v.Known
	digest, published := strings.CutPrefix(v.Known.Digest, prefix)
	known.Digest = digest
	if !published {
		known.Digest = ""
	}
	outcome, err := f.compare(ctx, o, known)
	if err != nil || f.Index == nil {
		return outcome, err
	}
	digest = prefix + outcome.Digest
	if outcome.Status == models.Uneventful {
		indexed, err := f.Index.Complete(ctx, o.ID)
		if err != nil || indexed {
			outcome.Digest = digest
			return outcome, err
		}
	}
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return models.Outcome{}, context.Cause(ctx)
	}
	complete, err := f.indexOrigin(ctx, o)
	if err != nil {
		return models.Outcome{RetryAfter: models.SecondsOf(fetch.RetryAfter(err))}, fmt.Errorf("index %s: %w", models.Redact(o.URI), err)
	}
	outcome.Digest = digest
	if !complete {
		outcome.Digest = ""
	}
	return outcome, nil
}

// digestPrefix returns the beginning of the digests of visits that publish o with the wanted
// branches and tags; "" if this manager does not index. A change of the setting changes it.
func (f *Flow) digestPrefix(o models.Origin) string {
	if f.Index == nil {
		return ""
	}
	w := f.wantedRefs(o)
	selected := strings.Join(w.Branches, "\n")
	if len(w.Tags) > 0 {
		selected += "\n" + gitrepo.TagPrefix + strings.Join(w.Tags, "\n"+gitrepo.TagPrefix)
	}
	sum := sha256.Sum256([]byte(selected))
	return "indexed:" + hex.EncodeToString(sum[:4]) + ":"
}

// wantedRefs selects the branches and the tags of an origin: its own, or those of the manager.
func (f *Flow) wantedRefs(o models.Origin) gitrepo.Wanted {
	w := f.Wanted
	if len(o.Branches) > 0 {
		w.Branches = o.Branches
	}
	if len(o.Tags) > 0 {
		w.Tags = o.Tags
	}
	return w
}

// compare compares an origin with its state at an earlier visit, and returns whether it changed as the outcome's
// status. A repository is compared by its refs, in its mirror if it needs one to be read.
func (f *Flow) compare(ctx context.Context, o models.Origin, known models.Known) (models.Outcome, error) {
	switch {
	case o.Kind == models.Folder:
		return f.compareFolder(ctx, o, known)
	case f.needsMirror(o.URI):
		return f.compareGit(ctx, o, known)
	}
	return f.refs.Visit(ctx, models.Visit{Origin: o, Known: known, Listed: o.Listed})
}

// indexOrigin copies an origin, has its files analysed, and publishes it. complete is false if files could not be
// read; they are left out, and are problems of the origin in the catalog. The catalog is written after the index.
func (f *Flow) indexOrigin(ctx context.Context, o models.Origin) (complete bool, err error) {
	src, err := f.open(ctx, o)
	if err != nil {
		return false, err
	}
	defer src.close()
	j := newJob(f, o, src)
	if err := j.listFiles(ctx); err != nil {
		return false, err
	}
	if err := j.indexAndPublish(ctx); err != nil {
		return false, err
	}
	problems := j.problems()
	err = catalog.RetryUnavailable(ctx, f.Log, func() error {
		_, err := f.Catalog.Curate(ctx, o.ID, time.Now().UTC(), catalog.Listing{Problems: problems, Complete: true})
		return err
	})
	if err != nil {
		return false, err
	}
	status.Tell(f.Log, slog.LevelInfo, "", "indexed %s: %d files, %d of them new, %d not readable", models.Redact(o.URI), j.files, j.read, len(j.unreadable))
	return len(j.unreadable) == 0, nil
}

// awaitSession waits until Run has a session, and returns it, because visits and work-items of a
// manager use one session. The error is the cause of ctx.
func (f *Flow) awaitSession(ctx context.Context) (space.Repository, error) {
	for {
		f.mu.Lock()
		session, changed := f.session, f.changed
		f.mu.Unlock()
		if session != nil {
			return session, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// setSession makes repo the session, or nil when it has ended, and wakes those who wait for it.
func (f *Flow) setSession(repo space.Repository) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session = repo
	close(f.changed)
	f.changed = make(chan struct{})
}

// open copies a repository, or opens a folder. The caller closes the source.
func (f *Flow) open(ctx context.Context, o models.Origin) (source, error) {
	if o.Kind == models.Folder {
		return f.openFolder(o)
	}
	return f.openGit(ctx, o)
}
