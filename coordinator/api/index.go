package api

import (
	"context"
	"fmt"

	"leasehold/coordinator/codeindex"
	"leasehold/shared/apitypes"
	"leasehold/shared/codesearch"
	"leasehold/shared/fault"
)

// CodeIndex is the coordinator's code index.
type CodeIndex interface {
	codesearch.Searcher
	ListFiles(ctx context.Context, q codeindex.FileQuery) (apitypes.Page[apitypes.IndexedFile], error)
	Report(ctx context.Context, q apitypes.ReportQuery) (apitypes.CodeReport, error)
	Repositories(ctx context.Context) ([]apitypes.CodeRepository, error)
	Symbols(ctx context.Context, name, branch string, limit int) ([]apitypes.SymbolPlace, error)
	Read(ctx context.Context, at apitypes.FilePlace) (apitypes.CodeFile, error)
	// Complete reports whether all files of an origin are indexed.
	Complete(ctx context.Context, id string) (bool, error)
	// Received, Append and Commit take a segment in parts; see coordinator/codeindex.
	Received(hash string) (int64, error)
	Append(ctx context.Context, hash string, offset int64, part []byte) (received int64, err error)
	Commit(ctx context.Context, batch, hash string) error
}

// codeIndex returns the index, or fault.ErrNotFound if this coordinator has none.
func (s *server) codeIndex() (CodeIndex, error) {
	if s.Index == nil {
		return nil, fmt.Errorf("this coordinator has no code index: %w", fault.ErrNotFound)
	}
	return s.Index, nil
}

// indexMissing returns the blobs that the code index lacks.
func (s *server) indexMissing(ctx context.Context, _ *request, body apitypes.BlobIDs) (apitypes.BlobIDs, error) {
	answer := apitypes.BlobIDs{IDs: []string{}}
	x, err := s.codeIndex()
	if err != nil {
		return answer, err
	}
	ids := make([]codesearch.OID, len(body.IDs))
	for i, id := range body.IDs {
		ids[i] = codesearch.OID(id)
	}
	missing, err := x.Missing(ctx, ids)
	for _, id := range missing {
		answer.IDs = append(answer.IDs, string(id))
	}
	return answer, err
}

func (s *server) indexReceived(_ context.Context, q *request) (apitypes.SegmentState, error) {
	x, err := s.codeIndex()
	if err != nil {
		return apitypes.SegmentState{}, err
	}
	n, err := x.Received(q.text("segment"))
	return apitypes.SegmentState{Received: n}, err
}

// indexPart adds a part of a segment. The answer has how many bytes were received, from which the client goes on.
func (s *server) indexPart(ctx context.Context, q *request, body apitypes.SegmentPart) (apitypes.SegmentState, error) {
	x, err := s.codeIndex()
	if err != nil {
		return apitypes.SegmentState{}, err
	}
	n, err := x.Append(ctx, q.text("segment"), body.Offset, body.Data)
	return apitypes.SegmentState{Received: n}, err
}

func (s *server) indexCommit(ctx context.Context, q *request, body apitypes.SegmentCommit) (none, error) {
	x, err := s.codeIndex()
	if err != nil {
		return none{}, err
	}
	return none{}, x.Commit(ctx, body.Batch, q.text("segment"))
}

func (s *server) indexComplete(ctx context.Context, q *request) (apitypes.GenerationState, error) {
	x, err := s.codeIndex()
	if err != nil {
		return apitypes.GenerationState{}, err
	}
	complete, err := x.Complete(ctx, q.text("origin"))
	return apitypes.GenerationState{Complete: complete}, err
}

// indexPublish replaces the files of a repository.
func (s *server) indexPublish(ctx context.Context, _ *request, g apitypes.Generation) (none, error) {
	x, err := s.codeIndex()
	if err != nil {
		return none{}, err
	}
	m := codesearch.Manifest{RepoID: g.ID, Repo: g.Repo, Files: make([]codesearch.File, len(g.Files))}
	for _, r := range g.Refs {
		m.Refs = append(m.Refs, codesearch.Ref{Name: r.Name, Commit: r.Commit, Time: r.Time})
	}
	for i, f := range g.Files {
		if f.Ref < 0 || f.Ref >= len(m.Refs) {
			return none{}, fmt.Errorf("file %.200q: %w: ref %d of %d", f.Path, fault.ErrInvalid, f.Ref, len(m.Refs))
		}
		m.Files[i] = codesearch.File{Ref: m.Refs[f.Ref].Name, Path: string(f.Path), OID: codesearch.OID(f.OID), Vendored: f.Vendored}
	}
	return none{}, x.Publish(ctx, m)
}
