package elastic

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// maxReported is how many functions the report of a repository has, the largest first.
const maxReported = 1000

// maxViewed is how many repositories the views show, because the filter of their aliases lists all.
const maxViewed = 10_000

// viewed tells which entry of the log the views have come to.
type viewed struct {
	log  string
	last int64
}

// checkViews returns fault.ErrTooLarge if the views cannot show one more repository.
func (x *Index) checkViews(now snapshot, repoID string) error {
	if x.views && now.repos[repoID] == nil && len(now.repos) >= maxViewed {
		return fmt.Errorf("repository %.200q: %w: search-views shows at most %d repositories; unset it", repoID, fault.ErrTooLarge, maxViewed)
	}
	return nil
}

// showViews makes the views show the current generations, if they are kept, unless this process has done so since the
// last change. One request replaces the filters of both. If a process ends between announce and this, the next one does it.
func (x *Index) showViews(ctx context.Context) error {
	if !x.views {
		return nil
	}
	now, err := x.current(ctx)
	if err != nil || x.viewed == (viewed{now.log, now.last}) {
		return err
	}
	ids := []string{}
	for _, g := range now.repos {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	var actions []object
	for index, view := range views {
		actions = append(actions, object{"add": object{"index": x.prefix + index + version, "alias": x.prefix + view, "filter": shownBy(ids)}})
	}
	if err := x.changeAliases(ctx, actions); err != nil {
		return err
	}
	x.viewed = viewed{now.log, now.last}
	return nil
}

// fileLines is a document of the view files.
type fileLines struct {
	Generation string   `json:"generation"`
	RepoID     string   `json:"repo_id"`
	Filename   string   `json:"filename"`
	Repository string   `json:"repository"`
	Language   string   `json:"language"`
	Lines      []string `json:"lines"`
}

// repositoryReport is a document of the view report.
type repositoryReport struct {
	Generation string             `json:"generation"`
	RepoID     string             `json:"repo_id"`
	Repository string             `json:"repository"`
	Report     []reportedFunction `json:"report"`
}

type reportedFunction struct {
	File        string  `json:"file"`
	Line        int     `json:"line"`
	Function    string  `json:"function"`
	Receiver    string  `json:"receiver,omitempty"`
	Assignments int     `json:"assignments"`
	Branches    int     `json:"branches"`
	Conditions  int     `json:"conditions"`
	Score       float64 `json:"score"`
}

// writeViews writes the text of all files of a generation, and the report of its repository with
// its maxReported largest functions. It reads the texts in groups (inGroups), and cuts the report
// after each, so that memory is bounded. Skipped and lost blobs are left out, and texts that are too large for the server. After an error a part
// may be written, which writing again replaces.
func (x *Index) writeViews(ctx context.Context, g *generation, all []*file) error {
	writes := bulk{Index: x, smaller: func(string) (any, error) { return nil, nil }}
	report := repositoryReport{Generation: g.ID, RepoID: g.RepoID, Repository: g.Repo, Report: []reportedFunction{}}
	for group := range inGroups(all, (*file).textSize) {
		of := map[code.OID]*blob{}
		err := x.eachBlob(ctx, oidsOf(group), "text,raw,functions", func(id code.OID, b *blob) error { of[id] = b; return nil })
		if err != nil {
			return err
		}
		for _, f := range group {
			b := of[f.OID]
			if b == nil || f.Skipped != "" {
				continue
			}
			for _, r := range b.Functions {
				report.Report = append(report.Report, reportedFunction{f.Filename, r.Line, r.Function, r.Receiver, r.A, r.B, r.C, r.Score})
			}
			report.Report = largest(report.Report, 2*maxReported)
			text := strings.ToValidUTF8(string(b.content()), "\uFFFD")
			document := fileLines{g.ID, g.RepoID, f.Filename, f.Repository, f.Language, strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
			if err := writes.add(ctx, replace, lines, f.Key, document); err != nil {
				return err
			}
		}
	}
	report.Report = largest(report.Report, maxReported)
	if err := writes.add(ctx, replace, reports, g.ID, report); err != nil {
		return err
	}
	return writes.flush(ctx)
}

// largest returns the maxReported functions with the highest scores. If all are at most
// ifMoreThan, it returns all as they are: a caller that adds functions sorts seldom then.
func largest(all []reportedFunction, ifMoreThan int) []reportedFunction {
	if len(all) <= ifMoreThan {
		return all
	}
	slices.SortStableFunc(all, func(a, b reportedFunction) int { return cmp.Compare(b.Score, a.Score) })
	return all[:maxReported]
}

// oidsOf returns the object ids of files, each once.
func oidsOf(all []*file) []code.OID {
	ids := make([]code.OID, len(all))
	for i, f := range all {
		ids[i] = f.OID
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
