package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	codeindex "leasehold/coordinator/code"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// Limits of searches.
const (
	maxMatches = 100_000
	maxReport  = 1000
	maxLines   = 10_000 // of a file
	flushLines = 50     // after which lines are sent
)

// stream is the answer of a route that sends lines of JSON. It calls visit for each, and
// ends with the first error of visit.
type stream func(visit func(line any) error) error

// streaming declares a route whose answer is lines of JSON, each of type A.
func streaming[A any](id, method, path, summary string, h func(context.Context, *request) (stream, error), query ...param) route {
	r := on(id, method, path, summary, func(ctx context.Context, q *request) (*A, error) { return nil, nil }, query...)
	r.isStream = true
	r.handle = func(ctx context.Context, q *request) (any, error) { return h(ctx, q) }
	return r
}

// writeLines sends a stream. Its status is sent before the first line, so an error of the stream
// is the last line. Lines are sent in groups of flushLines, and the rest when the handler returns.
func (s *server) writeLines(w http.ResponseWriter, q *request, lines stream) {
	w.Header().Set("Content-Type", linesType)
	w.WriteHeader(q.status)
	c, n := http.NewResponseController(w), 0
	send := func(line any) error {
		data, err := encode(line)
		if err != nil {
			return err
		}
		_ = c.SetWriteDeadline(time.Now().Add(answerSlack)) // a test's recorder has none
		if _, err := w.Write(data); err != nil {            // not redacted, because it is the text of files
			return err
		}
		if n++; n%flushLines == 0 {
			return c.Flush()
		}
		return nil
	}
	if err := lines(send); err != nil && q.Context().Err() == nil {
		row := fault.Of(err)
		_ = send(types.SearchLine{Error: &types.Problem{Status: row.HTTPStatus, Code: types.ErrorCode(row.Code), Detail: models.Redact(err.Error())}}) // the client may be gone
	}
}

// search returns a stream of the matches, and a last line that tells how the search ended. A query that cannot be
// parsed fails before the stream begins.
func (s *server) search(ctx context.Context, q *request) (stream, error) {
	x, err := s.codeIndex()
	if err != nil {
		return nil, err
	}
	query, err := code.Parse(q.text("q"))
	if err != nil {
		return nil, fmt.Errorf("q: %w", err)
	}
	return func(send func(any) error) error {
		var failed error
		part := codeindex.Part{Offset: q.number("offset"), Limit: q.number("limit"), Context: q.number("context"), Facets: q.flag("facets")}
		end, err := x.SearchPart(ctx, query, part, func(m types.CodeMatch) bool {
			failed = send(types.SearchLine{Match: &m})
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
		return send(types.SearchLine{Done: &end})
	}, nil
}

func (s *server) listFiles(ctx context.Context, q *request) (types.Page[types.IndexedFile], error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.Page[types.IndexedFile]{Items: []types.IndexedFile{}}, err
	}
	return x.ListFiles(ctx, codeindex.FileQuery{Repo: q.text("repo"), SkippedOnly: q.flag("skipped"), Offset: q.number("offset"), Limit: q.number("limit")})
}

func (s *server) codeReport(ctx context.Context, q *request) (types.CodeReport, error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.CodeReport{}, err
	}
	return x.Report(ctx, types.ReportQuery{Repo: q.text("repo"), Limit: q.number("limit"), Tests: q.flag("tests")})
}

func (s *server) listRepositories(ctx context.Context, q *request) (types.Page[types.CodeRepository], error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.Page[types.CodeRepository]{Items: []types.CodeRepository{}}, err
	}
	all, err := x.Repositories(ctx)
	return cut(q, all), err
}

func (s *server) listSymbols(ctx context.Context, q *request) (types.Page[types.SymbolPlace], error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.Page[types.SymbolPlace]{Items: []types.SymbolPlace{}}, err
	}
	all, err := x.Symbols(ctx, q.text("name"), q.text("branch"), q.number("limit"))
	return types.Page[types.SymbolPlace]{Items: all, Total: len(all)}, err
}

func (s *server) readCode(ctx context.Context, q *request) (types.CodeFile, error) {
	x, err := s.codeIndex()
	if err != nil {
		return types.CodeFile{}, err
	}
	return x.Read(ctx, types.FilePlace{
		Repo: q.text("repo"), Path: q.text("path"), Ref: q.text("ref"), OID: q.text("oid"), From: q.number("from"), Lines: q.number("limit"),
	})
}
