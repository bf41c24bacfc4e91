package elastic

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// file is the document of a file of a generation: a path with one content.
type file struct {
	Generation string   `json:"generation"`
	RepoID     string   `json:"repo_id"`
	Key        string   `json:"key"` // the document's id
	OID        code.OID `json:"oid"`
	Filename   string   `json:"filename"`
	PathTri    string   `json:"path_tri,omitempty"`
	Repository string   `json:"repository"`
	Language   string   `json:"language"`
	Lang       string   `json:"lang"` // Language, folded
	Vendored   bool     `json:"vendored"`
	Skipped    string   `json:"skipped,omitempty"`
	Place      place    `json:"place"`
}

// place has the facts about a file that are not searched.
type place struct {
	Path []byte        `json:"path"` // as git has it
	Refs []int         `json:"refs"` // numbers in the generation
	Info code.BlobInfo `json:"info"`
}

// textSize returns how many bytes of text are stored for a file: none for a skipped one.
func (f *file) textSize() int64 {
	if f.Skipped != "" {
		return 0
	}
	return f.Place.Info.Size
}

// newFiles returns a document for each path and content of m, ordered by path; its Refs are the
// numbers of all refs of m that have it. Fields about the blob and the generation are not set yet.
func newFiles(m code.Manifest) []*file {
	number := map[string]int{}
	for i, r := range m.Refs {
		number[r.Name] = i
	}
	sorted := slices.Clone(m.Files)
	slices.SortFunc(sorted, func(a, b code.File) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.OID, b.OID), cmp.Compare(number[a.Ref], number[b.Ref]))
	})
	var all []*file
	for _, f := range sorted {
		if n := len(all); n > 0 && string(all[n-1].Place.Path) == f.Path && all[n-1].OID == f.OID {
			all[n-1].Place.Refs = append(all[n-1].Place.Refs, number[f.Ref])
			all[n-1].Vendored = all[n-1].Vendored || f.Vendored
			continue
		}
		all = append(all, &file{RepoID: m.RepoID, OID: f.OID, Filename: strings.ToValidUTF8(f.Path, string(utf8.RuneError)), Repository: strings.ToValidUTF8(m.Repo, string(utf8.RuneError)),
			Vendored: f.Vendored, Place: place{Path: []byte(f.Path), Refs: []int{number[f.Ref]}}})
	}
	return all
}

// setBlobFacts sets the fields of all, the files of m, that come from their blobs.
func (x *Index) setBlobFacts(ctx context.Context, m code.Manifest, all []*file) error {
	filesByID := map[code.OID][]*file{}
	for _, f := range all {
		filesByID[f.OID] = append(filesByID[f.OID], f)
	}
	return x.eachBlob(ctx, m.OIDs(), "info", func(id code.OID, b *blob) error {
		if b == nil {
			return fmt.Errorf("repository %q: blob %s is not on the search server, to which all workers must write: %w", m.Repo, id, fault.ErrConflict)
		}
		for _, f := range filesByID[id] {
			f.Place.Info = b.Info
			f.Place.Info.Lang = code.FileLang(string(f.Place.Path), b.Info)
			f.Language, f.Lang, f.Skipped = f.Place.Info.Lang, fold(f.Place.Info.Lang), b.Info.Skipped
		}
		return nil
	})
}

// warnRefused logs which files are not indexed, because the server refuses documents of their size.
func (x *Index) warnRefused(ctx context.Context, m code.Manifest, all []*file) {
	first, n := "", 0
	for _, f := range all {
		if f.Skipped == SkipRefused {
			first, n = cmp.Or(first, f.Filename), n+1
		}
	}
	if n > 0 {
		x.log.WarnContext(ctx, "code index: files are "+SkipRefused, "repository", m.Repo, "files", n, "first", first)
	}
}

// Publish writes the documents of the repository's generation, and then makes searches see it in
// place of the one before. If they see the same generation already, it does nothing. It fails with
// fault.ErrInvalid for a manifest out of range, fault.ErrConflict for an unindexed blob, and
// fault.ErrTooLarge for a repository more than the views show. After an error searches see the generation before.
func (x *Index) Publish(ctx context.Context, m code.Manifest) error {
	if err := m.Check(); err != nil {
		return err
	}
	m.RepoID = asStored(m.RepoID)
	x.publishing.Lock()
	defer x.publishing.Unlock()
	now, err := x.openLog(ctx)
	if err != nil {
		return err
	}
	if err := x.checkViews(now, m.RepoID); err != nil {
		return err
	}
	all := newFiles(m)
	if err := x.setBlobFacts(ctx, m, all); err != nil {
		return err
	}
	x.warnRefused(ctx, m, all)
	g := newGeneration(m, all, now.home)
	if !now.isCurrent(g.RepoID, g.ID) {
		err = x.writeGeneration(ctx, g, all)
	}
	if err == nil {
		err = x.checkIndices(ctx, now)
	}
	if err == nil {
		err = x.announce(ctx, g.RepoID, g)
	}
	if err == nil {
		err = x.showViews(ctx)
	}
	if err != nil {
		return fmt.Errorf("repository %q: %w", m.Repo, err)
	}
	return nil
}

// checkIndices returns fault.ErrUnavailable if blobs or files have got another index since before: the copy may lack
// blobs that the files name. Publishing again checks all of them.
func (x *Index) checkIndices(ctx context.Context, before snapshot) error {
	_, indices, err := x.readHome(ctx)
	if err == nil && indices != before.indices {
		err = fmt.Errorf("%w: its indices were rebuilt or deleted meanwhile; publish it again", fault.ErrUnavailable)
	}
	return err
}

// asStored returns a text as JSON has it: each byte that is not part of UTF-8 as U+FFFD.
func asStored(text string) string { return string([]rune(text)) }

// writeGeneration writes the documents of a generation and refreshes them; searches see them after
// announce. The note of the generation is the first, so that Run finds and removes the others
// if the publication fails here. At the end it counts the files, so that none is lost if another process has removed
// them meanwhile. The caller holds publishing.
func (x *Index) writeGeneration(ctx context.Context, g *generation, all []*file) error {
	if err := x.noteGeneration(ctx, g); err != nil {
		return err
	}
	writes := bulk{Index: x}
	t := x.trigrams.Get().(*segment.Trigrams)
	defer x.trigrams.Put(t)
	for _, f := range all {
		sum := sha256.Sum256([]byte(g.ID + " " + string(f.OID) + " " + string(f.Place.Path)))
		f.Generation, f.Key = g.ID, hex.EncodeToString(sum[:16])
		f.PathTri = terms(t.Of(f.Place.Path))
		if err := writes.add(ctx, replace, files, f.Key, f); err != nil {
			return err
		}
	}
	if err := writes.flush(ctx); err != nil {
		return err
	}
	if x.views {
		if err := x.writeViews(ctx, g, all); err != nil {
			return err
		}
		if err := x.refresh(ctx, lines, reports); err != nil {
			return err
		}
	}
	if err := x.refresh(ctx, blobs, files); err != nil {
		return err
	}
	written, err := x.count(ctx, files, object{"term": object{"generation": g.ID}})
	if err == nil && written != len(all) {
		err = fmt.Errorf("generation %s: %w: the search server has %d of its %d files", g.ID, fault.ErrUnavailable, written, len(all))
	}
	return err
}

// DropRepo makes searches see the generations of the other repositories only; Run removes the
// documents later. It does nothing, and returns nil, for a repository without a generation.
func (x *Index) DropRepo(ctx context.Context, repoID string) error {
	x.publishing.Lock()
	defer x.publishing.Unlock()
	if err := x.announce(ctx, asStored(repoID), nil); err != nil {
		return err
	}
	return x.showViews(ctx)
}
