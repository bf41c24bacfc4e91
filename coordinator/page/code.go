package page

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	codeindex "leasehold/coordinator/code"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// Code is the code index, as the pages of code search use it.
type Code interface {
	Search(ctx context.Context, q code.Query, o code.Options, visit func(code.Match) bool) (code.Stats, error)
	Repositories(ctx context.Context) ([]types.CodeRepository, error)
	Read(ctx context.Context, at types.FilePlace) (types.CodeFile, error)
}

// Limits of the pages of code search.
const (
	codeMatches = 200
	codeLines   = 5000
	codeRepos   = 500
	codeTime    = 5 * time.Second // of a search; the rest of WriteTimeout is for the answer
	codeAtOnce  = 8               // requests; more are refused
)

// codePage is what the template of code search shows.
type codePage struct {
	Title, Query, Problem string
	Repositories          []types.CodeRepository // without a query
	Found                 *foundCode
	File                  *codeFile
}

type foundCode struct {
	End     types.SearchEnd
	Matches []codeMatch
}

type codeMatch struct {
	types.CodeMatch
	Link  string // permanent: it names the content by its hash
	Parts []codePart
}

// codePart is a part of a line, marked if the query matches it.
type codePart struct {
	Text   string
	Marked bool
}

type codeFile struct {
	types.CodeFile
	Next string // link to the lines behind these; empty if there are none
}

type numberedLine struct {
	Number int
	Text   string
}

// Numbered returns the lines with their numbers.
func (f codeFile) Numbered() []numberedLine {
	all := make([]numberedLine, len(f.Lines))
	for i, text := range f.Lines {
		all[i] = numberedLine{f.From + i, text}
	}
	return all
}

// limitCode refuses requests past codeAtOnce, because each may search all files.
func (p *Page) limitCode(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case p.searching <- struct{}{}:
			defer func() { <-p.searching }()
			serve(w, r)
		default:
			p.renderCode(w, r, codePage{Title: "Code search", Query: r.URL.Query().Get("q")}, fmt.Errorf("too many searches at once: try again: %w", fault.ErrOverloaded))
		}
	}
}

// searchCode serves the page of a search, or of all repositories without a query.
func (p *Page) searchCode(w http.ResponseWriter, r *http.Request) {
	c := codePage{Title: "Code search", Query: r.URL.Query().Get("q")}
	var err error
	if c.Query == "" {
		c.Repositories, err = p.Code.Repositories(r.Context())
		c.Repositories = c.Repositories[:min(len(c.Repositories), codeRepos)]
	} else {
		c.Title = c.Query + " – Code search"
		c.Found, err = p.findMatches(r.Context(), c.Query)
	}
	p.renderCode(w, r, c, err)
}

// findMatches returns at most codeMatches matches, and how the search ended. With an error of the search, it also
// returns the matches before it; a query that cannot be parsed has no result.
func (p *Page) findMatches(ctx context.Context, text string) (*foundCode, error) {
	q, err := code.Parse(text)
	if err != nil {
		return nil, err
	}
	var found foundCode
	stats, err := p.Code.Search(ctx, q, code.Options{Limit: codeMatches, Timeout: codeTime}, func(m code.Match) bool {
		match := codeindex.MatchOf(m)
		found.Matches = append(found.Matches, codeMatch{match, p.linkOf(match.Repo, match.Path, match.OID, match.Line, 0), partsOf(match)})
		return true
	})
	found.End = codeindex.EndOf(stats)
	return &found, err
}

// linkOf returns the address of a page of a file: the one with line if line is above 0, otherwise the one that
// begins with line from; 0 is the first.
func (p *Page) linkOf(repo, path, oid string, line, from int) string {
	q := url.Values{"repo": {repo}, "path": {path}, "oid": {oid}}
	anchor := ""
	if line > 0 {
		anchor = "#L" + strconv.Itoa(line)
		from = (line-1)/codeLines*codeLines + 1
	}
	if from > 1 {
		q.Set("from", strconv.Itoa(from))
	}
	return p.Prefix + "/code/file?" + q.Encode() + anchor
}

// partsOf cuts a line where its marks begin and end. Ranges that are out of order or
// outside of the line are skipped.
func partsOf(m types.CodeMatch) (parts []codePart) {
	at := 0
	for _, r := range m.Ranges {
		if r.Start < at || r.End > len(m.Text) || r.Start >= r.End {
			continue
		}
		parts = append(parts, codePart{m.Text[at:r.Start], false}, codePart{m.Text[r.Start:r.End], true})
		at = r.End
	}
	return append(parts, codePart{m.Text[at:], false})
}

// showCode serves the page of a file.
func (p *Page) showCode(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("from")) // otherwise the first line
	at := types.FilePlace{Repo: q.Get("repo"), Path: q.Get("path"), OID: q.Get("oid"), From: from, Lines: codeLines}
	f, err := p.Code.Read(r.Context(), at)
	c := codePage{Title: at.Path + " – Code search"}
	if err == nil {
		c.File = &codeFile{CodeFile: f}
		if behind := f.From + len(f.Lines); len(f.Lines) > 0 && behind <= f.Total {
			c.File.Next = p.linkOf(f.Repo, f.Path, f.OID, 0, behind)
		}
	}
	p.renderCode(w, r, c, err)
}

// renderCode sends a page, with the reason of err on it. The texts of files are not
// redacted, because users search them as they are.
func (p *Page) renderCode(w http.ResponseWriter, r *http.Request, c codePage, err error) {
	status := http.StatusOK
	if err != nil {
		status, c.Problem = fault.Of(err).HTTPStatus, err.Error()
	}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, "code", c); err != nil {
		p.Log.Error("dashboard: render code search", "error", err)
		http.Error(w, "The page cannot be rendered. See the coordinator's log.", http.StatusInternalServerError)
		return
	}
	p.writePage(w, r, status, "Code", rendered{title: c.Title, html: b.String()})
}
