package page

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"leasehold/coordinator/api"
	codeindex "leasehold/coordinator/code"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// Code is the code index, as the pages of code search use it.
type Code interface {
	SearchPart(ctx context.Context, q code.Query, p codeindex.Part, visit func(types.CodeMatch) bool) (types.SearchEnd, error)
	Read(ctx context.Context, at types.FilePlace) (types.CodeFile, error)
}

// Limits of the pages of code search.
const (
	codeMatches = 50 // on a page
	codeLines   = 5000
	codeTime    = 5 * time.Second // of a search; the rest of WriteTimeout is for the answer
	codeAtOnce  = 8               // requests; more are refused
	fewFacets   = 6               // values that are shown at once
)

// The pages of code search. Only the list of repositories is kept and updated: the others are as large as what they show.
var (
	codeList   = view{"/code", "code", "Code", readRepositories, false}
	codeFound  = view{"/code", "codefound", "Code", readFound, true}
	codeFile   = view{"/code/file", "codefile", "Code", readFile, true}
	codeReport = view{"/code/report", "codereport", "Code", readReport, true}
)

// addCode adds the pages of code search to the handler.
func (p *Page) addCode() {
	list, found := p.serveView(codeList), p.serveNow(codeFound)
	p.mux.HandleFunc("GET /code", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") == "" {
			list(w, r)
			return
		}
		found(w, r)
	})
	p.mux.HandleFunc("GET /code/file", p.serveNow(codeFile))
	p.mux.HandleFunc("GET /code/report", p.serveNow(codeReport))
}

// startCode reserves one of codeAtOnce places, because a page may read all files. The function that it returns frees the
// place. It fails if the role of the visitor does not allow the operation, or if all places are taken.
func (v *visit) startCode(operation string) (end func(), err error) {
	if !api.Allows(v.who, operation) {
		return nil, refusal(http.StatusForbidden, "the role of %s does not allow %s", v.who, operation)
	}
	select {
	case v.page.searching <- struct{}{}:
		return func() { <-v.page.searching }, nil
	default:
		return nil, refusal(http.StatusServiceUnavailable, "too many searches at once: try again")
	}
}

// codeQuery is what is searched: a query, or a part of the name of definitions, in what the filters let through.
type codeQuery struct {
	Text         string
	Definitions  bool   // Text is a part of a name
	Repo, Lang   string // whole names; empty: all
	Folder       string // with a slash at the end; empty: all
	page         *Page
	parsed       code.Query
	offset       int
	kindOfSearch string // as the address has it
}

// definitions is the value of the parameter kind with which definitions are searched.
const definitions = "definitions"

func (v *visit) codeQuery() codeQuery {
	q := codeQuery{Text: v.param("q"), Repo: v.param("repo"), Lang: v.param("lang"), Folder: v.param("folder"), page: v.page}
	q.Definitions = v.param("kind") == definitions
	if q.Definitions {
		q.kindOfSearch = definitions
	}
	q.offset, _ = strconv.Atoi(v.param("from")) // otherwise the first part
	q.offset = max(0, min(q.offset, codeindex.FacetMatches))
	return q
}

// with returns the address of the search with one parameter changed, at its first part unless that is the parameter.
func (q codeQuery) with(name, value string) string {
	values := map[string]string{"q": q.Text, "kind": q.kindOfSearch, "repo": q.Repo, "lang": q.Lang, "folder": q.Folder}
	values[name] = value
	return q.page.link("/code", "q", values["q"], "kind", values["kind"], "repo", values["repo"], "lang", values["lang"], "folder", values["folder"], "from", values["from"])
}

// Chips are the filters, and the addresses without them.
func (q codeQuery) Chips() (chips []chip) {
	for _, c := range []chip{{"repository", q.Repo, q.with("repo", "")}, {"language", q.Lang, q.with("lang", "")}, {"folder", q.Folder, q.with("folder", "")}} {
		if c.Value != "" {
			chips = append(chips, c)
		}
	}
	return chips
}

// parse parses the text and adds the filters.
func (q *codeQuery) parse() (err error) {
	text := q.Text
	if q.Definitions {
		text = code.SymbolQuery(text, "")
	}
	if q.parsed, err = code.Parse(text); err != nil {
		return err
	}
	all := []code.Expr{q.parsed.Root}
	for _, f := range []code.Filter{
		{Field: code.FieldRepo, Value: exactly(q.Repo) + "$"}, {Field: code.FieldLang, Value: q.Lang}, {Field: code.FieldFile, Value: exactly(q.Folder)},
	} {
		if f.Value != "" && f.Value != "^" && f.Value != "^$" {
			all = append(all, f)
		}
	}
	if len(all) > 1 {
		q.parsed.Root = code.And{Of: all}
	}
	return nil
}

// exactly returns an expression for names that begin with a text.
func exactly(text string) string { return "^" + regexp.QuoteMeta(text) }

// foundPage is the answer of a search.
type foundPage struct {
	codeQuery
	Problem     string // why the search failed; matches before it are shown
	End         types.SearchEnd
	From        int // number of the first match
	Files       []foundFile
	Symbols     []foundSymbol
	Facets      []facetChoices
	First, Next string // addresses of the first and the next part; empty: this is the first, or the last
}

// foundFile is matches of one file that follow each other.
type foundFile struct {
	types.CodeMatch
	Link  string // permanent: it names the content by its hash
	Lines []foundLine
}

type foundLine struct {
	Number int
	Link   string
	Parts  []codePart
}

// codePart is a part of a line, marked if the query matches it.
type codePart struct {
	Text   string
	Marked bool
}

// foundSymbol is a definition, and where it is.
type foundSymbol struct {
	types.CodeSymbol
	Repo, Path, Branch, Link string
}

// facetChoices are the values by which the matches can be narrowed.
type facetChoices struct {
	Name      string
	Few, More []facetChoice
}

type facetChoice struct {
	Value, Link string
	Matches     int
}

// readFound searches. A query that cannot be parsed and an error of the search are on the page.
func readFound(v *visit) (any, error) {
	f := &foundPage{codeQuery: v.codeQuery()}
	v.raw = true // the texts of files are shown as they are
	v.title = f.Text + " – Code"
	err := f.search(v)
	if err != nil && v.Context().Err() != nil {
		return nil, err
	}
	if err != nil {
		v.status, f.Problem = statusOf(err), sentence(err.Error())
	}
	return f, nil
}

// statusOf is the status with which a page shows an error.
func statusOf(err error) int {
	var refused *problem
	if asProblem(err, &refused) {
		return refused.Status
	}
	return fault.Of(err).HTTPStatus
}

func (f *foundPage) search(v *visit) error {
	if err := f.parse(); err != nil {
		return err
	}
	end, err := v.startCode("searchCode")
	if err != nil {
		return err
	}
	defer end()
	f.From = f.offset + 1
	part := codeindex.Part{Offset: f.offset, Limit: codeMatches, Facets: true, Timeout: codeTime}
	f.End, err = v.page.Code.SearchPart(v.Context(), f.parsed, part, func(m types.CodeMatch) bool {
		f.add(m)
		return true
	})
	for i, hint := range f.End.Hints {
		f.End.Hints[i] = sentence(hint)
	}
	if f.offset > 0 {
		f.First = f.with("from", "")
	}
	next := f.offset + codeMatches
	if f.End.Matches == codeMatches && f.End.Stopped == code.StoppedLimit && next <= codeindex.FacetMatches {
		f.Next = f.with("from", strconv.Itoa(next))
	}
	if counts := f.End.Facets; counts != nil {
		f.addFacet("repository", "repo", f.Repo, counts.Repos)
		f.addFacet("language", "lang", f.Lang, counts.Langs)
		f.addFacet("folder", "folder", f.Folder, counts.Folders)
	}
	return err
}

// add adds a match.
func (f *foundPage) add(m types.CodeMatch) {
	link := f.page.linkOf(m.Repo, m.Path, m.OID, m.Line, 0)
	if f.Definitions {
		if m.Symbol != nil {
			f.Symbols = append(f.Symbols, foundSymbol{*m.Symbol, m.Repo, m.Path, m.Branch, link})
		}
		return
	}
	if last := len(f.Files) - 1; last < 0 || f.Files[last].RepoID != m.RepoID || f.Files[last].Path != m.Path || f.Files[last].OID != m.OID {
		f.Files = append(f.Files, foundFile{CodeMatch: m, Link: f.page.linkOf(m.Repo, m.Path, m.OID, 0, 0)})
	}
	if m.Line > 0 {
		file := &f.Files[len(f.Files)-1]
		file.Lines = append(file.Lines, foundLine{m.Line, link, partsOf(m)})
	}
}

// addFacet adds links that narrow the matches to one value of a parameter. It adds none if a value is chosen already, or
// if all matches have the same one. Folders have links always, because they contain folders.
func (f *foundPage) addFacet(name, param, chosen string, counts []types.CodeFacet) {
	if len(counts) == 0 || param != "folder" && (chosen != "" || len(counts) < 2) {
		return
	}
	c := facetChoices{Name: name}
	for i, n := range counts {
		one := facetChoice{n.Value, f.with(param, n.Value), n.Matches}
		if i < fewFacets {
			c.Few = append(c.Few, one)
		} else {
			c.More = append(c.More, one)
		}
	}
	f.Facets = append(f.Facets, c)
}

// Summary tells how much was found, and of how much.
func (f *foundPage) Summary() string {
	end := f.End
	text := "No match"
	of := 0
	all := false
	if end.Facets != nil {
		of, all = end.Facets.Of, end.Facets.All
	}
	switch {
	case end.Matches == 0 && f.offset > 0:
		text = "No matches are left"
	case end.Matches > 0 && all && end.Matches == of:
		text = fmt.Sprintf("%s in %s", matchCount(end.Matches), count(int64(end.Files), "file"))
	case end.Matches > 0:
		text = fmt.Sprintf("Matches %s to %s", number(int64(f.From)), number(int64(f.From+end.Matches-1)))
		if all {
			text += " of " + number(int64(of))
		} else if of > 0 {
			text += " of more than " + number(int64(of))
		}
	}
	if end.Stopped == code.StoppedTime || end.Stopped == code.StoppedMemory {
		text += "; the search was stopped by its limit of " + end.Stopped
	}
	if end.RankedOf > 0 {
		text += fmt.Sprintf("; the first are the best of the first %s found", number(int64(end.RankedOf)))
	}
	return text
}

func matchCount(n int) string {
	if n == 1 {
		return "1 match"
	}
	return number(int64(n)) + " matches"
}

// linkOf returns the address of a page of a file: the one with line if line is above 0, otherwise the one that
// begins with line from; 0 is the first.
func (p *Page) linkOf(repo, path, oid string, line, from int) string {
	q := url.Values{"repo": {repo}, "path": {path}}
	if oid != "" {
		q.Set("oid", oid)
	}
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
