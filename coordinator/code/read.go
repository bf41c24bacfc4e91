package code

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// Repositories lists the indexed repositories, ordered by name.
func (x *Index) Repositories(ctx context.Context) ([]types.CodeRepository, error) {
	repos, err := x.Repos(ctx)
	all := make([]types.CodeRepository, len(repos))
	for i, r := range repos {
		all[i] = types.CodeRepository{Repo: r.Repo, ID: r.ID, Files: r.Files, Lost: r.Lost, Refs: []types.GenerationRef{}}
		for _, ref := range r.Refs {
			all[i].Refs = append(all[i].Refs, types.GenerationRef{Name: ref.Name, Commit: ref.Commit, Time: ref.Time})
		}
	}
	return all, err
}

// Symbols lists at most limit definitions with name in their names, in all branches or, if branch is not empty,
// in that branch. An empty name gives fault.ErrInvalid.
func (x *Index) Symbols(ctx context.Context, name, branch string, limit int) ([]types.SymbolPlace, error) {
	found := []types.SymbolPlace{}
	if name == "" {
		return found, fmt.Errorf("name: %w: want a part of the name of a definition", fault.ErrInvalid)
	}
	q, err := code.Parse(code.SymbolQuery(name, branch))
	if err != nil {
		return found, fmt.Errorf("name %.100q: %w", name, err)
	}
	_, err = x.Search(ctx, q, code.Options{Limit: limit}, func(m code.Match) bool {
		if c := MatchOf(m); c.Symbol != nil {
			found = append(found, types.SymbolPlace{CodeSymbol: *c.Symbol, Repo: c.Repo, Path: c.Path, Branch: c.Branch})
		}
		return true
	})
	return found, err
}

// Read returns at most at.Lines lines of an indexed file from line at.From on, and the number of its lines. It
// finds the file by at.OID, or if that is empty by repository, path and ref. It returns fault.ErrNotFound if the
// file is not indexed.
func (x *Index) Read(ctx context.Context, at types.FilePlace) (types.CodeFile, error) {
	f := types.CodeFile{Repo: at.Repo, Path: at.Path, OID: at.OID}
	if at.OID == "" {
		found, err := x.findFile(ctx, at)
		if err != nil {
			return f, err
		}
		f = types.CodeFile{Repo: found.Repo, Path: found.Path, OID: string(found.OID), Commit: found.Commit, Lang: found.Lang}
	}
	text, err := x.Text(ctx, code.OID(f.OID))
	if err != nil {
		return f, fmt.Errorf("file %.200q of %.200q: %w", at.Path, at.Repo, err)
	}
	f.From = max(at.From, 1)
	for line := range bytes.Lines(text) {
		if f.Total++; f.Total >= f.From && len(f.Lines) < at.Lines {
			excerpt, _, _ := code.Excerpt(bytes.TrimSuffix(line, []byte("\n")), nil) // the beginning of a long line
			f.Lines = append(f.Lines, strings.ToValidUTF8(excerpt, "\uFFFD"))
		}
	}
	return f, nil
}

// findFile returns the file of the repository at.Repo with the path at.Path in the branch at.Ref, or in any
// branch if at.Ref is empty, with the commit of that branch. Of several such files it returns the first.
func (x *Index) findFile(ctx context.Context, at types.FilePlace) (found code.FileInfo, err error) {
	isFound := false
	err = x.Files(ctx, matchRepo(at.Repo), func(f code.FileInfo, _ func() []code.FunctionReport) bool {
		isFound = f.Path == at.Path && (at.Ref == "" || slices.Contains(f.Refs, at.Ref))
		if isFound {
			found = f
		}
		return !isFound
	})
	if err == nil && !isFound {
		branch := ""
		if at.Ref != "" {
			branch = fmt.Sprintf(" in branch %.200q", at.Ref)
		}
		err = fmt.Errorf("file %.200q of %.200q is not indexed%s: %w", at.Path, at.Repo, branch, fault.ErrNotFound)
	}
	if err != nil || at.Ref == "" || at.Ref == found.Refs[0] {
		return found, err // found.Commit belongs to the first of its refs
	}
	found.Commit, err = x.commitOf(ctx, found.RepoID, at.Ref)
	return found, err
}

// commitOf returns the indexed commit of a branch; "" if the branch was removed meanwhile.
func (x *Index) commitOf(ctx context.Context, id, branch string) (string, error) {
	repos, err := x.Repos(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range repos {
		for _, ref := range r.Refs {
			if r.ID == id && ref.Name == branch {
				return ref.Commit, nil
			}
		}
	}
	return "", nil
}
