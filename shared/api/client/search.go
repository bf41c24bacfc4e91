package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// maxSearchLine limits one line of the answer of a search, in bytes: a match has at most
// 21 texts of 1 KiB, which JSON may make six times as long.
const maxSearchLine = 1 << 20

// Search calls visit for each match that q selects until visit returns false. The matches arrive while the
// coordinator searches. end tells what was left out; it is empty if visit has ended the search. It fails with
// fault.ErrUnavailable if the answer breaks off.
func (c *Client) Search(ctx context.Context, q types.SearchQuery, visit func(types.CodeMatch) bool) (end types.SearchEnd, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := url.Values{
		"q": {q.Query}, "offset": {strconv.Itoa(q.Offset)}, "limit": {strconv.Itoa(q.Limit)}, "context": {strconv.Itoa(q.Context)}, "facets": {strconv.FormatBool(q.Facets)},
	}
	var at *member
	var answer *http.Response
	_, err = c.follow(ctx, true, func(m *member) (status int, err error) {
		at = m
		answer, status, err = c.openSearch(ctx, m, query)
		return status, err
	})
	if err != nil {
		return end, err
	}
	defer answer.Body.Close()
	return at.readMatches(answer.Body, visit)
}

// openSearch returns the answer of a coordinator to a search, whose body the caller closes.
func (c *Client) openSearch(ctx context.Context, at *member, query url.Values) (answer *http.Response, status int, err error) {
	r, err := c.newRequest(ctx, at, http.MethodGet, "search", query, nil)
	if err != nil {
		return nil, 0, err
	}
	if answer, err = c.http.Do(r); err != nil {
		return nil, 0, at.unreachable(err)
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		return answer, answer.StatusCode, nil
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxSearchLine))
	if err != nil {
		return nil, 0, at.unreachable(err)
	}
	return nil, answer.StatusCode, at.responseError(answer, data)
}

// readMatches calls visit with the matches of an answer, which has one line for each and one for its end. It
// returns the results of Search.
func (m *member) readMatches(body io.Reader, visit func(types.CodeMatch) bool) (end types.SearchEnd, err error) {
	in := bufio.NewScanner(body)
	in.Buffer(nil, maxSearchLine)
	for in.Scan() {
		var line types.SearchLine
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return end, fmt.Errorf("response of %s: %w: %w", m.url, fault.ErrCorrupt, err)
		}
		switch {
		case line.Error != nil:
			return end, refusal{fault.FromCode(string(line.Error.Code)), line.Error.Detail}
		case line.Done != nil:
			return *line.Done, nil
		case line.Match != nil && !visit(*line.Match):
			return end, nil
		}
	}
	err = in.Err()
	if err == nil {
		err = errors.New("the answer is broken off")
	}
	return end, m.unreachable(err)
}

// CodeReport returns the largest functions, the most complex files and the languages of a
// repository.
func (c *Client) CodeReport(ctx context.Context, q types.ReportQuery) (r types.CodeReport, err error) {
	values := url.Values{"repo": {q.Repo}, "limit": {strconv.Itoa(q.Limit)}, "tests": {strconv.FormatBool(q.Tests)}}
	_, err = c.Do(ctx, Call{Method: "GET", Path: "report", Query: values, Answer: &r, Repeat: true})
	return r, err
}

// Files lists the files of a repository, or of all if repo is empty, at most most; with skipped only
// those that are not indexed.
func (c *Client) Files(ctx context.Context, repo string, skipped bool, most int) (types.Page[types.IndexedFile], error) {
	q := url.Values{"repo": {repo}, "skipped": {strconv.FormatBool(skipped)}}
	return List[types.IndexedFile](ctx, c, "files", q, PageSize, most)
}

// Repositories lists the indexed repositories.
func (c *Client) Repositories(ctx context.Context, most int) (types.Page[types.CodeRepository], error) {
	return List[types.CodeRepository](ctx, c, "repositories", nil, PageSize, most)
}

// ReadFile returns lines of an indexed file, at most n from the line with the number from.
func (c *Client) ReadFile(ctx context.Context, at types.FilePlace) (f types.CodeFile, err error) {
	q := url.Values{"repo": {at.Repo}, "path": {at.Path}, "ref": {at.Ref}, "from": {strconv.Itoa(at.From)}, "limit": {strconv.Itoa(at.Lines)}}
	_, err = c.Do(ctx, Call{Method: "GET", Path: "file", Query: q, Answer: &f, Repeat: true})
	return f, err
}
