package elastic

import (
	"context"
	"fmt"
	"slices"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// withDefaultTimeout returns ctx with the time limit of a search, for requests on behalf of people,
// who do not wait for a server as long as workers do. If that time ends, the cause is
// fault.ErrUnavailable.
func withDefaultTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, code.DefaultTimeout, fmt.Errorf("search server: %w: no answer in %s", fault.ErrUnavailable, code.DefaultTimeout))
}

// Repos lists the generations that searches see. If the index of blobs or of files is not the
// one that a generation was written to, because that one was deleted, all files of the generation count as lost.
func (x *Index) Repos(ctx context.Context) ([]code.RepoInfo, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	now, err := x.current(ctx)
	if err != nil {
		return nil, err
	}
	var all []code.RepoInfo
	for _, g := range now.sorted() {
		all = append(all, now.repoInfo(g))
	}
	return all, nil
}

// Repo returns the generation of one repository that searches see.
func (x *Index) Repo(ctx context.Context, id string) (r code.RepoInfo, exists bool, err error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	now, err := x.current(ctx)
	if err != nil {
		return r, false, err
	}
	g := now.repos[asStored(id)]
	if g == nil {
		return r, false, nil
	}
	return now.repoInfo(g), true, nil
}

// repoInfo describes a generation.
func (n snapshot) repoInfo(g *generation) code.RepoInfo {
	info := code.RepoInfo{ID: g.RepoID, Repo: g.Repo, Refs: slices.Clone(g.Refs), Files: g.Files}
	if g.home() != n.home {
		info.Lost = g.Files
	}
	return info
}

// Files lists the files of the generations that searches see. It returns nil if visit ended it.
// Only the list of generations has a default timeout, because visit may take long. wanted chooses
// repositories by id and name.
func (x *Index) Files(ctx context.Context, wanted func(id, name string) bool, visit func(code.FileInfo, func() []code.FunctionReport) bool) error {
	limited, cancel := withDefaultTimeout(ctx)
	defer cancel()
	now, err := x.current(limited)
	if err != nil {
		return err
	}
	for _, g := range now.sorted() {
		if !wanted(g.RepoID, g.Repo) {
			continue
		}
		if more, err := x.visitFiles(ctx, g, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// visitFiles calls visit for the files of one generation, ordered by name. more is false if visit
// returned false, or with an error.
func (x *Index) visitFiles(ctx context.Context, g *generation, visit func(code.FileInfo, func() []code.FunctionReport) bool) (more bool, err error) {
	s := selection{alias: files, query: object{"term": object{"generation": g.ID}}, order: []string{"filename", "key"}}
	listed := 0
	for {
		page, err := nextPage[*file](ctx, x, &s)
		if err != nil {
			return false, err
		}
		if len(page) == 0 {
			break
		}
		listed += len(page)
		functions := pageFunctions{index: x, page: page}
		for _, f := range page {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			visited := visit(fileInfo(g, f), func() []code.FunctionReport { return functions.functionsOf(ctx, f.OID) })
			if functions.err != nil || !visited {
				return false, functions.err
			}
		}
	}
	if listed != g.Files {
		return false, fmt.Errorf("repository %q: %w: %d of its %d files are listed, because it was replaced meanwhile, or an index was deleted; try again", g.Repo, fault.ErrUnavailable, listed, g.Files)
	}
	return true, nil
}

// fileInfo describes a file of g, with the name and commit of its refs.
func fileInfo(g *generation, f *file) code.FileInfo {
	info := code.FileInfo{RepoID: g.RepoID, Repo: g.Repo, Path: string(f.Place.Path), OID: f.OID, Vendored: f.Vendored, BlobInfo: f.Place.Info}
	for i, r := range g.refsOf(f) {
		info.Refs = append(info.Refs, r.Name)
		if i == 0 {
			info.Commit = r.Commit
		}
	}
	return info
}

// pageFunctions reads the reports of functions of a page's files: those of all files when visit
// asks for the first ones, because one request for each file takes too long.
type pageFunctions struct {
	index *Index
	page  []*file
	known map[code.OID][]code.FunctionReport // nil before they are read
	err   error                              // of reading them
}

// functionsOf returns the reports of a blob of the page. It returns nil if there are none or
// reading failed; p.err has the error then.
func (p *pageFunctions) functionsOf(ctx context.Context, id code.OID) []code.FunctionReport {
	if p.known == nil {
		p.known = map[code.OID][]code.FunctionReport{}
		p.err = p.index.eachBlob(ctx, oidsOf(p.page), "functions", func(id code.OID, b *blob) error {
			if b != nil {
				p.known[id] = b.Functions
			}
			return nil
		})
	}
	return p.known[id]
}
