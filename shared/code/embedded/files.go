package embedded

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

var _ code.Lister = (*Index)(nil)

// Repos lists the repositories that a search would see now, ordered by name and id. It fails with
// fault.ErrClosed if the index is closed.
func (x *Index) Repos(context.Context) ([]code.RepoInfo, error) {
	v, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer x.release(v)
	var all []code.RepoInfo
	for _, g := range v.repositories(func(string, string) bool { return true }) {
		all = append(all, code.RepoInfo{ID: g.repoID, Repo: g.repo, Refs: slices.Clone(g.refs), Files: g.files(), Lost: v.lost[g.repoID]})
	}
	return all, nil
}

// Text returns a copy of the content of a blob, because the mapped file may be closed when Text has
// returned. It fails with fault.ErrNotFound if no segment has the blob, or if it was skipped.
func (x *Index) Text(_ context.Context, id code.OID) ([]byte, error) {
	if err := id.Check(); err != nil {
		return nil, err
	}
	v, err := x.acquire()
	if err != nil {
		return nil, err
	}
	defer x.release(v)
	part, blob, ok := v.findBlob(id)
	if !ok {
		return nil, fmt.Errorf("blob %s is not indexed: %w", id, fault.ErrNotFound)
	}
	if reason := v.parts[part].Skipped(blob); reason != "" {
		return nil, fmt.Errorf("blob %s is not indexed: %s: %w", id, reason, fault.ErrNotFound)
	}
	var buffer []byte
	text, err := v.parts[part].Text(blob, &buffer)
	return bytes.Clone(text), err
}

// repositories returns the generations of the repositories that wanted accepts, ordered by
// name and id.
func (v *view) repositories(wanted func(id, name string) bool) []*generation {
	var listed []*generation
	for _, g := range v.repos {
		if g != nil && wanted(g.repoID, g.repo) {
			listed = append(listed, g)
		}
	}
	slices.SortFunc(listed, func(a, b *generation) int { return strings.Compare(a.repo+"\x00"+a.repoID, b.repo+"\x00"+b.repoID) })
	return listed
}

// Files lists the files of one view; see code.Lister. It returns nil if visit ended it.
func (x *Index) Files(ctx context.Context, wanted func(id, name string) bool, visit func(code.FileInfo, func() []code.FunctionReport) bool) error {
	v, err := x.acquire()
	if err != nil {
		return err
	}
	defer x.release(v)
	for _, g := range v.repositories(wanted) {
		for i := range g.files() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if info, functions := v.fileInfo(g, i); !visit(info, functions) {
				return nil
			}
		}
	}
	return nil
}

// fileInfo describes file i of g, and returns a function that reads the reports of its
// functions from the mapped segment. If no segment has the blob, Skipped is
// code.SkipLost and there are no reports.
func (v *view) fileInfo(g *generation, i int) (code.FileInfo, func() []code.FunctionReport) {
	f := code.FileInfo{RepoID: g.repoID, Repo: g.repo, Path: string(g.path(i)), OID: g.oid(i), Vendored: g.vendored(i)}
	for n, ref := range g.refs {
		if g.mask(i)&(1<<n) == 0 {
			continue
		}
		f.Refs = append(f.Refs, ref.Name)
		if len(f.Refs) == 1 {
			f.Commit = ref.Commit
		}
	}
	part, blob, ok := v.findBlob(f.OID)
	if !ok {
		f.Skipped = code.SkipLost
		return f, func() []code.FunctionReport { return nil }
	}
	f.BlobInfo = v.parts[part].Info(blob)
	f.Lang = code.FileLang(f.Path, f.BlobInfo)
	return f, func() []code.FunctionReport { return v.parts[part].Functions(blob) }
}
