package api

import (
	"context"
	"errors"
	"fmt"

	codeindex "leasehold/coordinator/code"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// CodeIndex is the coordinator's code index.
type CodeIndex interface {
	code.Searcher
	SearchPart(ctx context.Context, q code.Query, p codeindex.Part, visit func(types.CodeMatch) bool) (types.SearchEnd, error)
	ListFiles(ctx context.Context, q codeindex.FileQuery) (types.Page[types.IndexedFile], error)
	Report(ctx context.Context, q types.ReportQuery) (types.CodeReport, error)
	Repositories(ctx context.Context) ([]types.CodeRepository, error)
	Symbols(ctx context.Context, name, branch string, limit int) ([]types.SymbolPlace, error)
	Read(ctx context.Context, at types.FilePlace) (types.CodeFile, error)
	// Complete reports whether all files of an origin are indexed.
	Complete(ctx context.Context, id string) (bool, error)
	// Lacks returns what files the index has lost.
	Lacks() (code.Lack, error)
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
func (s *server) indexMissing(ctx context.Context, _ *request, body types.BlobIDs) (types.BlobIDs, error) {
	answer := types.BlobIDs{IDs: []string{}}
	x, err := s.codeIndex()
	if err != nil {
		return answer, err
	}
	ids := make([]code.OID, len(body.IDs))
	for i, id := range body.IDs {
		ids[i] = code.OID(id)
	}
	missing, err := x.Missing(ctx, ids)
	for _, id := range missing {
		answer.IDs = append(answer.IDs, string(id))
	}
	return answer, err
}

func (s *server) indexReceived(_ context.Context, q *request) (types.SegmentState, error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.SegmentState{}, err
	}
	n, err := x.Received(q.text("segment"))
	return types.SegmentState{Received: n}, err
}

// indexPart adds a part of a segment. The answer has how many bytes were received, from which the client goes on.
func (s *server) indexPart(ctx context.Context, q *request) (types.SegmentState, error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.SegmentState{}, err
	}
	part, err := readPart(q)
	if err != nil {
		return types.SegmentState{}, err
	}
	n, err := x.Append(ctx, q.text("segment"), part.Offset, part.Data)
	return types.SegmentState{Received: n}, err
}

// readPart reads a part of a segment: the bytes as they are behind the parameter offset, or JSON, which workers of
// version 1 send.
func readPart(q *request) (part types.SegmentPart, err error) {
	if data, ok := q.octets(); ok {
		return types.SegmentPart{Offset: int64(q.number("offset")), Data: data}, nil
	}
	err = decode(q.Body, &part)
	switch {
	case err != nil:
		return part, err
	case q.number("offset") != 0:
		return part, fmt.Errorf("offset %d: %w: a part in JSON has its own", q.number("offset"), fault.ErrConflict)
	case part.Offset < 0:
		return part, fmt.Errorf("offset %d: %w: want 0 or more", part.Offset, fault.ErrInvalid)
	}
	return part, nil
}

func (s *server) indexCommit(ctx context.Context, q *request, body types.SegmentCommit) (none, error) {
	x, err := s.codeIndex()
	if err != nil {
		return none{}, err
	}
	err = x.Commit(ctx, body.Batch, q.text("segment"))
	if errors.Is(err, fault.ErrCorrupt) { // what the client sent, not what the index has
		err = fmt.Errorf("%w: what was received is not this segment: %v", fault.ErrConflict, err)
	}
	return none{}, err
}

func (s *server) indexComplete(ctx context.Context, q *request) (types.GenerationState, error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.GenerationState{}, err
	}
	complete, err := x.Complete(ctx, q.text("origin"))
	return types.GenerationState{Complete: complete}, err
}

// indexPublish replaces the files of a repository.
func (s *server) indexPublish(ctx context.Context, _ *request, g types.Generation) (none, error) {
	x, err := s.codeIndex()
	if err != nil {
		return none{}, err
	}
	m := code.Manifest{RepoID: g.ID, Repo: g.Repo, Files: make([]code.File, len(g.Files))}
	for _, r := range g.Refs {
		m.Refs = append(m.Refs, code.Ref{Name: r.Name, Commit: r.Commit, Time: r.Time})
	}
	for i, f := range g.Files {
		if f.Ref < 0 {
			return none{}, fmt.Errorf("file %.200q: %w: ref %d: want 0 or more", f.Path, fault.ErrInvalid, f.Ref)
		}
		if f.Ref >= len(m.Refs) {
			return none{}, fmt.Errorf("file %.200q: %w: ref %d of %d", f.Path, fault.ErrNotFound, f.Ref, len(m.Refs))
		}
		m.Files[i] = code.File{Ref: m.Refs[f.Ref].Name, Path: string(f.Path), OID: code.OID(f.OID), Vendored: f.Vendored}
	}
	return none{}, x.Publish(ctx, m)
}
