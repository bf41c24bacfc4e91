package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// maxMatches is how many matches a search prints without --limit.
const maxMatches = 100_000

// searchOptions are the flags of `leasehold search`.
type searchOptions struct {
	out        *output
	ignoreCase bool
	limit      int
	offset     int
	lines      int
	facets     bool
}

// newSearch is `leasehold search`.
func (a *app) newSearch() *cobra.Command {
	var o searchOptions
	c := &cobra.Command{
		Use:   "search QUERY…",
		Short: "search the files of indexed repositories",
		Long: `Search the files of indexed repositories: in the running coordinator or, if none
answers, in the data folder. The exit code is 1 if nothing matches, as in grep.

A file must have all words, in its text or its path; combine words with OR, and
exclude one with NOT or a leading -. "quoted text" and /regular expressions/ of
lines count as words. The filters are repo: file: content: lang: branch: sym:
vendor: and case:. Upper and lower case differ, unless -i or case:auto is given.
docs/code.md has the query language.`,
		Example: `  leasehold search 'func main lang:go -file:test'
  leasehold search -i -C 2 '/error.*timeout/ repo:server'`,
		Args: cobra.MinimumNArgs(1),
		Annotations: map[string]string{
			dashAdvice: "; to exclude a word, put -- before the query or quote the query (leasehold search -- zebra -file:txt)",
		},
	}
	o.out = bindOutput(c)
	c.Flags().BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "ignore upper and lower case")
	c.Flags().IntVarP(&o.limit, "limit", "n", maxMatches, "maximum number of matches")
	c.Flags().IntVar(&o.offset, "offset", 0, "skip this many matches")
	c.Flags().BoolVar(&o.facets, "facets", false, "count matches by repository, language and folder instead of printing them")
	c.Flags().IntVarP(&o.lines, "context", "C", 0, "print this many lines before and after each match, at most 10")
	config.BindFlags(c.Flags(), codeKeys...)
	run := a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		query := strings.Join(args, " ")
		if o.ignoreCase {
			query = "case:no " + query
		}
		q := types.SearchQuery{Query: query, Offset: o.offset, Limit: o.limit, Context: o.lines, Facets: o.facets}
		if o.facets {
			return a.searchFacets(ctx, s, q, o)
		}
		return a.search(ctx, s, q, o)
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.limit < 1 || o.limit > maxMatches || o.offset < 0 || o.offset > maxMatches || o.lines < 0 || o.lines > 10 {
			return usagef("-n must be from 1 to %d, --offset from 0 to %d, and -C from 0 to 10; got %d, %d and %d", maxMatches, maxMatches, o.limit, o.offset, o.lines)
		}
		return run(c, args)
	}
	return c
}

// errNoMatch is the error of a search that found nothing, which the exit code tells.
var errNoMatch = fmt.Errorf("no match: %w", errReported)

// search prints matches while they arrive; JSON and CSV at the end. It returns errNoMatch if there are none.
// An error of printing ends the search and takes precedence over an error of the search.
func (a *app) search(ctx context.Context, s *node.CatalogSource, q types.SearchQuery, o searchOptions) error {
	p := newMatchPrinter(a.out, o.lines)
	var rows []codeRow
	var failed error
	n := 0
	end, err := s.SearchCode(ctx, q, func(m types.CodeMatch) bool {
		n++
		switch o.out.form {
		case asTable:
			failed = p.print(m)
		case asLines:
			failed = a.printJSON(m)
		default:
			rows = append(rows, codeRow{m})
		}
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return refusedArgument(err)
	}
	if o.out.form == asJSON || o.out.form == asCSV {
		if err := show(a, o.out, rows, ""); err != nil {
			return err
		}
	}
	a.reportSearchEnd(end, o)
	if n == 0 && o.offset > 0 && end.Stopped == "" {
		sayf(a.err, "no matches after the first %d\n", o.offset)
	}
	if n == 0 && end.Incomplete {
		return incomplete(end)
	}
	if n == 0 {
		return a.noMatch(end)
	}
	for _, hint := range end.Hints {
		sayf(a.err, "%s\n", hint)
	}
	return nil
}

// noMatch prints why nothing matches, as far as that is known, and returns errNoMatch.
func (a *app) noMatch(end types.SearchEnd) error {
	for _, hint := range end.Hints {
		sayf(a.err, "no match; %s\n", hint)
	}
	return errNoMatch
}

// incomplete returns the error of a search that found nothing in a part of the index: the exit code
// tells whether the rest comes back by itself.
func incomplete(end types.SearchEnd) error {
	if end.Fetching {
		return errors.Join(errReported, fault.ErrUnavailable)
	}
	return errors.Join(errReported, fault.ErrCorrupt)
}

// remedyOf returns what brings the missing files of the index back.
func remedyOf(end types.SearchEnd) string {
	if end.Fetching {
		return "its repositories are visited again now"
	}
	return "a successful visit of its repositories indexes them again (leasehold run --until-idle, or a coordinator)"
}

// reportSearchEnd prints to standard error what a search has left out.
func (a *app) reportSearchEnd(end types.SearchEnd, o searchOptions) {
	switch {
	case end.Stopped == "limit" && o.limit == maxMatches:
		sayf(a.err, "only the first %d matches are shown; narrow the query\n", maxMatches)
	case end.Stopped == "time" || end.Stopped == "memory":
		sayf(a.err, "the search reached its limit of %s and stopped; narrow the query\n", end.Stopped)
	}
	if end.RankedOf > 0 {
		sayf(a.err, "the first matches are the best of the first %d found, not of all; narrow the query\n", end.RankedOf)
	}
	if end.Incomplete {
		sayf(a.err, "the search was not over everything, because the code index lacks %s; %s\n", count(end.Missing, "file"), remedyOf(end))
	}
	skipped := 0
	for _, n := range end.Skipped {
		skipped += n
	}
	if skipped > 0 && isTerminal(a.err) {
		sayf(a.err, "%s not indexed; leasehold report REPO --skipped lists them\n", count(skipped, "file"))
	}
}

// matchPrinter prints matches as repo:path:line:text.
type matchPrinter struct {
	out      io.Writer
	terminal bool // out is a terminal, which would execute control sequences
	colour   bool
	lines    int    // of context
	last     string // place of the last match; only with context
}

// newMatchPrinter returns a printer of matches with this many lines of context.
func newMatchPrinter(out io.Writer, lines int) *matchPrinter {
	return &matchPrinter{out: out, terminal: isTerminal(out), colour: canRedraw(out) && os.Getenv("NO_COLOR") == "", lines: lines}
}

// The colours of a terminal, as grep has them.
const (
	colourName  = "\x1b[35m"
	colourLine  = "\x1b[32m"
	colourMatch = "\x1b[1;31m"
	colourEnd   = "\x1b[0m"
)

// print prints a match: its place alone if the whole file matches, otherwise its line
// with those around it.
func (p *matchPrinter) print(m types.CodeMatch) error {
	// A line feed in a name would begin another match, also for a program that reads them.
	place := wording.Printable(placeOf(m.Repo, m.Branch, m.Path))
	if p.lines > 0 { // matches with lines around them are separated
		if p.last != "" {
			if _, err := fmt.Fprintln(p.out, "--"); err != nil {
				return err
			}
		}
		p.last = place
	}
	if m.Line == 0 { // the file matches by its path or its filters
		_, err := fmt.Fprintln(p.out, p.paint(colourName, place))
		return err
	}
	for i, text := range m.Before {
		if err := p.line(place, '-', m.Line-len(m.Before)+i, p.plain(text)); err != nil {
			return err
		}
	}
	if err := p.line(place, ':', m.Line, p.marked(m)); err != nil {
		return err
	}
	for i, text := range m.After {
		if err := p.line(place, '-', m.Line+1+i, p.plain(text)); err != nil {
			return err
		}
	}
	return nil
}

// placeOf names a file as REPO:PATH, or REPO@BRANCH:PATH if not all indexed branches have
// this content there.
func placeOf(repo, branch, path string) string {
	if branch != "" {
		return repo + "@" + branch + ":" + path
	}
	return repo + ":" + path
}

// line prints one line of a file with its number. mark is : for a match and - for a line around
// it, as grep prints them.
func (p *matchPrinter) line(place string, mark byte, number int, text string) error {
	_, err := fmt.Fprintf(p.out, "%s%c%s%c%s\n", p.paint(colourName, place), mark, p.paint(colourLine, strconv.Itoa(number)), mark, text)
	return err
}

// marked returns the text of a match with its ranges in colour. Ranges that are out of
// order or outside of the text are skipped.
func (p *matchPrinter) marked(m types.CodeMatch) string {
	if !p.colour {
		return p.plain(m.Text)
	}
	var b strings.Builder
	at := 0
	for _, r := range m.Ranges {
		if r.Start < at || r.End > len(m.Text) || r.Start > r.End {
			continue
		}
		b.WriteString(p.plain(m.Text[at:r.Start]))
		b.WriteString(p.paint(colourMatch, m.Text[r.Start:r.End]))
		at = r.End
	}
	return b.String() + p.plain(m.Text[at:])
}

// plain returns text of a file, on a terminal without control sequences. Elsewhere programs read
// it, so it is complete.
func (p *matchPrinter) plain(text string) string {
	if !p.terminal {
		return text
	}
	return wording.Printable(text)
}

// paint returns text as plain does, in a colour if matches have colours.
func (p *matchPrinter) paint(colour, text string) string {
	if !p.colour {
		return p.plain(text)
	}
	return colour + p.plain(text) + colourEnd
}

// codeRow prints a match.
type codeRow struct{ types.CodeMatch }

func (r codeRow) columns() []column {
	return []column{
		{head: "repo", cell: r.Repo}, {head: "path", cell: r.Path, fit: cutStart}, {head: "line", cell: strconv.Itoa(r.Line)}, {head: "text", cell: r.Text, fit: cut},
	}
}

// newSymbols is `leasehold symbols`.
func (a *app) newSymbols() *cobra.Command {
	var limit int
	var branch string
	c := &cobra.Command{
		Use:   "symbols NAME",
		Short: "list definitions by a part of their name",
		Args:  cobra.ExactArgs(1),
	}
	out := bindOutput(c)
	c.Flags().IntVarP(&limit, "limit", "n", 100, "maximum number of definitions")
	c.Flags().StringVar(&branch, "branch", "", "indexed branch to search (default: all)")
	config.BindFlags(c.Flags(), codeKeys...)
	run := a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		rows, end, err := symbolRows(ctx, s, code.SymbolQuery(args[0], branch), limit)
		if err != nil {
			return err
		}
		if err := show(a, out, rows, "no definitions have this in their name"); err != nil {
			return err
		}
		if len(rows) == 0 {
			return a.noMatch(end)
		}
		return nil
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if limit < 1 || limit > maxMatches || args[0] == "" {
			return usagef("NAME must not be empty, and -n must be from 1 to %d; got %q and %d", maxMatches, args[0], limit)
		}
		return run(c, args)
	}
	return c
}

// symbolRows searches for definitions, up to limit. Matches of the query that are not definitions are left
// out.
func symbolRows(ctx context.Context, s *node.CatalogSource, query string, limit int) (rows []symbolRow, end types.SearchEnd, err error) {
	end, err = s.SearchCode(ctx, types.SearchQuery{Query: query, Limit: limit}, func(m types.CodeMatch) bool {
		if m.Symbol != nil {
			rows = append(rows, symbolRow{types.SymbolPlace{CodeSymbol: *m.Symbol, Repo: m.Repo, Path: m.Path, Branch: m.Branch}})
		}
		return true
	})
	return rows, end, refusedArgument(err)
}

// symbolRow prints a definition.
type symbolRow struct{ types.SymbolPlace }

func (r symbolRow) columns() []column {
	return []column{
		{head: "name", cell: r.Name, fit: cut}, {head: "kind", cell: r.Kind}, {head: "scope", cell: r.Scope, fit: cut},
		{head: "place", cell: placeOf(r.Repo, r.Branch, r.Path) + ":" + strconv.Itoa(r.Line), fit: cutStart}, {head: "signature", cell: r.Signature, fit: cut},
	}
}
