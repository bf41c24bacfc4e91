package code

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/work"
)

// job is one visit that indexes an origin.
type job struct {
	flow   *Flow
	origin models.Origin
	source source

	manifest   code.Manifest
	entries    map[code.OID]entry  // one of each blob of the manifest
	unreadable map[code.OID]string // reasons
	files      int                 // of the manifest, in all refs
	read       int                 // files that workers have read and indexed
}

func newJob(f *Flow, o models.Origin, src source) *job {
	return &job{flow: f, origin: o, source: src, entries: map[code.OID]entry{}, unreadable: map[code.OID]string{}}
}

// listFiles fills the manifest with the files of all refs, and entries with one file for each content. A path
// longer than an index accepts is left out. Of files with the same content, a readable one is preferred to a
// skipped one, such as a link whose target has the text of a file.
func (j *job) listFiles(ctx context.Context) error {
	j.manifest = code.Manifest{RepoID: j.origin.ID, Repo: repositoryName(j.origin.URI)}
	for _, ref := range j.source.refs() {
		if len(j.manifest.Refs) == code.MaxRefs {
			return fmt.Errorf("%w: more than %d branches and tags: name fewer", fault.ErrTooLarge, code.MaxRefs)
		}
		j.manifest.Refs = append(j.manifest.Refs, ref)
		entries, err := j.source.files(ctx, ref)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if len(e.path) > code.MaxPathBytes {
				continue
			}
			j.manifest.Files = append(j.manifest.Files, code.File{Ref: ref.Name, Path: e.path, OID: e.oid, Vendored: analyse.Vendored(e.path)})
			if known, ok := j.entries[e.oid]; !ok || known.skip != "" && e.skip == "" {
				j.entries[e.oid] = e
			}
		}
	}
	j.files = len(j.manifest.Files)
	return nil
}

// repositoryName returns the name that results show: a URL without its scheme, user and
// the end .git, or a path.
func repositoryName(uri string) string {
	name := models.Redact(uri)
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = strings.TrimPrefix(rest, models.Redacted+"@")
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, "/"), ".git")
}

// publishTries is how often a job indexes the missing blobs and publishes, because the index may
// drop blobs that no generation names between the two.
const publishTries = 3

// indexAndPublish has workers index the missing blobs, and then publishes the manifest without the files that
// cannot be read.
func (j *job) indexAndPublish(ctx context.Context) error {
	repo, err := j.flow.awaitSession(ctx)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if err := j.indexMissing(ctx, work.Client{Repo: repo}); err != nil {
			return err
		}
		err := j.flow.Index.Publish(ctx, j.readable())
		if !errors.Is(err, fault.ErrConflict) || try == publishTries {
			return err
		}
	}
}

// readable returns the manifest without the files that cannot be read.
func (j *job) readable() code.Manifest {
	m := j.manifest
	if len(j.unreadable) > 0 {
		m.Files = slices.DeleteFunc(slices.Clone(m.Files), func(f code.File) bool { return j.unreadable[f.OID] != "" })
	}
	return m
}

// missing returns the entries of blobs that the index lacks and that can be read, in the order of their ids, so
// that repeated calls divide them into the same batches.
func (j *job) missing(ctx context.Context) ([]entry, error) {
	var ids []code.OID
	for id := range j.entries {
		if j.unreadable[id] == "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	ids, err := j.flow.Index.Missing(ctx, ids)
	found := make([]entry, len(ids))
	for i, id := range ids {
		found[i] = j.entries[id]
	}
	return found, err
}

// indexMissing has workers index the missing blobs in batches, and returns when all batches are done. First it
// waits for batches of a manager that has died, so that no file is read twice. Whenever no outcome comes for a
// while, it issues lost batches again. However it ends, no batch of it stays in the queue.
func (j *job) indexMissing(ctx context.Context, client work.Client) error {
	if err := j.awaitOthers(ctx, client); err != nil {
		return err
	}
	entries, err := j.missing(ctx)
	if err != nil {
		return err
	}
	pending := map[string]*plan{}
	for _, p := range splitBatches(j.origin, entries) {
		pending[p.id] = p
		j.flow.Content.add(p, j.source)
		j.flow.queue.push(p)
	}
	defer func() {
		for _, p := range pending {
			j.flow.queue.remove(p)
			j.flow.Content.remove(p)
		}
	}()
	for len(pending) > 0 {
		outcome, ok, err := j.nextOutcome(ctx, client)
		if err != nil {
			return err
		}
		if !ok {
			if err := j.requeueLost(ctx, client, pending); err != nil {
				return err
			}
			continue
		}
		if p := pending[outcome.Batch]; p != nil {
			done, err := j.noteOutcome(ctx, p, outcome)
			if err != nil {
				return err
			}
			if done {
				delete(pending, p.id)
				j.flow.Content.remove(p)
			}
		}
	}
	return nil
}

// nextOutcome waits for the outcome of a batch of the origin. ok is false if none came within Config.Look, or if
// one came that cannot be read; the caller checks then for lost batches.
func (j *job) nextOutcome(ctx context.Context, client work.Client) (r models.Indexed, ok bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, j.flow.Look)
	defer cancel()
	r, err = batch.Client{Repo: client.Repo}.Take(waiting, j.origin.ID)
	switch {
	case err == nil:
		return r, true, nil
	case ctx.Err() != nil:
		return r, false, context.Cause(ctx)
	case waiting.Err() != nil, errors.Is(err, fault.ErrCorrupt):
		return r, false, nil
	}
	return r, false, err
}

// maxTries is how often a batch is issued before the visit fails, because no worker can
// reach this manager.
const maxTries = 5

// noteOutcome notes the outcome of a batch. done is false if no worker could read its files from this manager;
// then the batch is issued again, at most maxTries times. If the batch became a dead letter, those of its files
// that the index still lacks count as unreadable, so that the others are published.
func (j *job) noteOutcome(ctx context.Context, p *plan, r models.Indexed) (done bool, err error) {
	switch {
	case r.Unreachable != "":
		if p.tries++; p.tries >= maxTries {
			return false, fmt.Errorf("%w: workers cannot read files from this manager at %s (set advertise): %s",
				fault.ErrUnavailable, j.flow.Content.URL(), r.Unreachable)
		}
		j.flow.queue.push(p)
		return false, nil
	case r.Failed != "":
		missing, err := j.flow.Index.Missing(ctx, p.oids())
		for _, id := range missing {
			j.unreadable[id] = "indexing failed: " + r.Failed
		}
		return true, err
	}
	for _, u := range r.Unreadable {
		if id := code.OID(u.OID); p.has(id) {
			j.unreadable[id] = u.Reason
		}
	}
	j.read += r.Files
	return true, nil
}

// inProgress returns the ids of the origin's batches that are leased, or in a result that waits.
func (j *job) inProgress(ctx context.Context, client work.Client) (map[string]bool, error) {
	seen, err := client.InProgress(ctx, models.ActionIndex)
	found := map[string]bool{}
	for _, r := range seen.Reserved {
		if r.Subject == j.origin.ID {
			for _, part := range r.Parts {
				found[part] = true
			}
		}
	}
	return found, err
}

// awaitOthers waits until no batch of the origin is in progress, and drops the outcomes of earlier visits: the
// blobs that these put are in the index, so missing does not return them.
func (j *job) awaitOthers(ctx context.Context, client work.Client) error {
	tick := time.NewTicker(min(j.flow.Look, time.Second))
	defer tick.Stop()
	for {
		others, err := j.inProgress(ctx, client)
		if err != nil {
			return err
		}
		if len(others) == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for {
		_, ok, err := batch.Client{Repo: client.Repo}.TakeP(ctx, j.origin.ID)
		if err != nil && !errors.Is(err, fault.ErrCorrupt) || !ok {
			return err
		}
	}
}

// requeueLost puts those of pending that were issued and are in no tuple any more into the queue again: their
// task waited for too long, or the space of outcomes was lost with its coordinator. It removes batches from
// pending whose files are indexed by now. If an outcome of the origin waits, it does nothing, because the outcome
// may be of such a batch and is read first.
func (j *job) requeueLost(ctx context.Context, client work.Client, pending map[string]*plan) error {
	inProgress, err := j.inProgress(ctx, client)
	if err != nil {
		return err
	}
	waiting, err := client.Repo.Space(batch.Space).Count(ctx, batch.Of(j.origin.ID))
	if err != nil || waiting > 0 {
		return err
	}
	for _, p := range pending {
		if inProgress[p.id] || j.flow.queue.has(p) {
			continue
		}
		missing, err := j.flow.Index.Missing(ctx, p.oids())
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			delete(pending, p.id)
			j.flow.Content.remove(p)
			continue
		}
		j.flow.queue.push(p)
	}
	return nil
}

// maxProblems is how many files that cannot be read are listed by name.
const maxProblems = 1000

// problems returns the problems of the origin for the catalog: no branches, patterns without a
// branch or tag, and the files that cannot be read; the first maxProblems by name, the others as a number.
func (j *job) problems() []models.Problem {
	var list []models.Problem
	if len(j.manifest.Refs) == 0 {
		list = append(list, models.Problem{Origin: j.origin.ID, Reason: "the repository is empty: it has no branches"})
	}
	list = append(list, j.unmatched()...)
	more := 0
	for _, f := range j.manifest.Files {
		reason := j.unreadable[f.OID]
		switch {
		case reason == "":
		case len(list) < maxProblems:
			list = append(list, models.Problem{Origin: j.origin.ID, Item: strings.ToValidUTF8(f.Path, "\uFFFD"), Reason: reason})
		default:
			more++
		}
	}
	if more > 0 {
		list = append(list, models.Problem{Origin: j.origin.ID, Reason: fmt.Sprintf("and %d more files that cannot be read", more)})
	}
	return list
}

// unmatched returns a problem for each wanted pattern that matches no branch or no tag of the
// repository; none for a folder, and none for a repository without any branch, which is one problem
// already. Of many tags only the newest are indexed, so a pattern of older ones counts as unmatched.
func (j *job) unmatched() (list []models.Problem) {
	if j.origin.Kind != models.Git || len(j.manifest.Refs) == 0 {
		return nil
	}
	missing := func(what, prefix string, patterns []string) {
		for _, pattern := range patterns {
			selects := func(r code.Ref) bool {
				name, ok := strings.CutPrefix(r.Name, prefix)
				matches, err := path.Match(pattern, name)
				return ok && matches && err == nil
			}
			if pattern != "HEAD" && !slices.ContainsFunc(j.manifest.Refs, selects) {
				list = append(list, models.Problem{Origin: j.origin.ID, Item: prefix + pattern, Reason: "no " + what + " has this name or matches this pattern"})
			}
		}
	}
	wanted := j.flow.wantedRefs(j.origin)
	missing("branch", "", wanted.Branches)
	missing("tag", gitrepo.TagPrefix, wanted.Tags)
	return list
}
