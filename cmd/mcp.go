package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/cmd/mcp"
	"leasehold/node"
	"leasehold/shared/api/strictjson"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/build"
)

// Limits of the answers to assistants, which pay for what they read.
const (
	mcpMatches = 200
	mcpRepos   = 1000
	mcpLines   = 2000
)

// newMCP is `leasehold mcp`.
func (a *app) newMCP() *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "let an AI assistant search code (Model Context Protocol)",
		Long: `Offer the tools search_code, list_repos and read_file to an AI assistant, which
speaks the Model Context Protocol on standard input and output, until the input
ends. Each call asks the running coordinator or, if none answers, reads the data
folder.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := a.load(c)
			if err != nil {
				return err
			}
			s := mcp.Server{Name: "leasehold", Version: build.Version(), Tools: a.mcpTools(cfg)}
			ended := make(chan error, 1)
			// A read of standard input cannot be interrupted, so that a signal leaves it to the
			// end of the process.
			go func() { ended <- s.Serve(c.Context(), c.InOrStdin(), a.out) }()
			select {
			case err := <-ended:
				return err
			case <-c.Context().Done():
				return nil
			}
		},
	}
	config.BindFlags(c.Flags(), codeKeys...)
	return c
}

// mcpTools returns the tools with their schemas. Their order is the one in which assistants see
// them. The tools check the bounds again, because an assistant may ignore a schema.
func (a *app) mcpTools(cfg config.Config) []mcp.Tool {
	text := func(what string) map[string]any { return map[string]any{"type": "string", "description": what} }
	number := func(what string, most int) map[string]any {
		return map[string]any{"type": "integer", "minimum": 0, "maximum": most, "description": what}
	}
	object := func(properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "required": append([]string{}, required...)}
	}
	return []mcp.Tool{
		{
			Name: "search_code",
			Description: `Search the files of indexed repositories; returns lines REPO:PATH:LINE:TEXT, the best first. ` +
				`Words must all occur in a file; "quoted text", /regular expressions/, or, -not, and the filters repo: file: lang: branch: sym: case:no are understood.`,
			Schema: object(map[string]any{
				"query": text(`such as: lang:go "func main" -file:test`), "limit": number("maximum number of matches; 50 by default", mcpMatches),
				"context": number("lines before and after each match", 10),
			}, "query"),
			Call: withSource(a, cfg, searchForAssistant),
		},
		{
			Name: "list_repos", Description: "List the indexed repositories with their branches and numbers of files.",
			Schema: object(map[string]any{}), Call: withSource(a, cfg, reposForAssistant),
		},
		{
			Name: "read_file", Description: "Read lines of an indexed file, with their numbers.",
			Schema: object(map[string]any{
				"repo": text("name of the repository, or its end"), "path": text("path of the file in it"), "branch": text("indexed branch; any by default"),
				"from": number("number of the first line; 1 by default", 10_000_000), "lines": number("number of lines; 200 by default", mcpLines),
			}, "repo", "path"),
			Call: withSource(a, cfg, fileForAssistant),
		},
	}
}

// withSource decodes the arguments of a tool, and opens the catalog for the time of a call, so that an idle
// assistant does not keep other commands from the data folder.
func withSource[A any](a *app, cfg config.Config, call func(context.Context, *node.CatalogSource, A) (string, error)) func(context.Context, json.RawMessage) (string, error) {
	return func(ctx context.Context, data json.RawMessage) (text string, err error) {
		var arguments A
		if err := strictjson.Decode(bytes.NewReader(data), &arguments); err != nil {
			return "", fmt.Errorf("arguments: %w: %w", fault.ErrInvalid, err)
		}
		const makeFolder = false
		s, err := node.OpenCatalog(ctx, cfg, a.newLogger(cfg), makeFolder)
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return call(ctx, s, arguments)
	}
}

type searchArguments struct {
	Query   string `json:"query"`
	Limit   int    `json:"limit"`
	Context int    `json:"context"`
}

// searchForAssistant answers search_code: matches as lines, and after them whether a limit ended the search.
func searchForAssistant(ctx context.Context, s *node.CatalogSource, q searchArguments) (string, error) {
	if q.Limit == 0 {
		q.Limit = 50
	}
	if q.Limit < 0 || q.Limit > mcpMatches || q.Context < 0 || q.Context > 10 {
		return "", fmt.Errorf("limit %d, context %d: %w: want at most %d and 10", q.Limit, q.Context, fault.ErrInvalid, mcpMatches)
	}
	var b strings.Builder
	p := newMatchPrinter(&b, q.Context)
	end, err := s.SearchCode(ctx, types.SearchQuery{Query: q.Query, Limit: q.Limit, Context: q.Context}, func(m types.CodeMatch) bool { return p.print(m) == nil })
	if err != nil {
		return "", err
	}
	return b.String() + endForAssistant(end), nil
}

// endForAssistant returns what follows the matches of a search: whether the limit, the time or the
// memory ended it, or that nothing matches.
func endForAssistant(end types.SearchEnd) string {
	if n := end.RankedOf; n > 0 {
		end.RankedOf = 0
		return fmt.Sprintf("(the best of the first %d matches found, not of all)\n", n) + endForAssistant(end)
	}
	switch {
	case end.Incomplete:
		return fmt.Sprintf("(the code index lacks %d files: there may be more matches)\n", end.Missing)
	case end.Stopped != "": // also without a match, because the rest was not searched
		return fmt.Sprintf("(stopped at the limit of %s: there may be more matches)\n", strings.ReplaceAll(end.Stopped, "limit", "matches"))
	case end.Matches == 0:
		return strings.Join(append([]string{fmt.Sprintf("no match (repositories searched: %d)", end.Repos)}, end.Hints...), "; ")
	case len(end.Hints) > 0:
		return "(" + strings.Join(end.Hints, "; ") + ")\n"
	}
	return ""
}

// reposForAssistant answers list_repos: a line for each of the first mcpRepos repositories, and how many more
// there are.
func reposForAssistant(ctx context.Context, s *node.CatalogSource, _ struct{}) (string, error) {
	repos, err := s.Repositories(ctx, mcpRepos)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range repos.Items {
		var refs []string
		for _, ref := range r.Refs {
			refs = append(refs, ref.Name)
		}
		fmt.Fprintf(&b, "%s (%s; %s)\n", r.Repo, strings.Join(refs, ", "), count(r.Files, "file"))
	}
	if more := repos.Total - len(repos.Items); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	if repos.Total == 0 {
		return "no repository is indexed", nil
	}
	return b.String(), nil
}

type fileArguments struct {
	Repo   string `json:"repo"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	From   int    `json:"from"`
	Lines  int    `json:"lines"`
}

// fileForAssistant answers read_file: numbered lines and, if the file goes on, which part of it they are.
func fileForAssistant(ctx context.Context, s *node.CatalogSource, q fileArguments) (string, error) {
	if q.Lines == 0 {
		q.Lines = 200
	}
	if q.Lines < 0 || q.Lines > mcpLines || q.From < 0 {
		return "", fmt.Errorf("from %d, lines %d: %w: want at least 0, and at most %d lines", q.From, q.Lines, fault.ErrInvalid, mcpLines)
	}
	f, err := s.ReadFile(ctx, types.FilePlace{Repo: q.Repo, Path: q.Path, Ref: q.Branch, From: q.From, Lines: q.Lines})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, line := range f.Lines {
		fmt.Fprintf(&b, "%d\t%s\n", f.From+i, line)
	}
	if last := f.From + len(f.Lines) - 1; last < f.Total {
		fmt.Fprintf(&b, "(lines %d to %d of %d)\n", f.From, last, f.Total)
	}
	return b.String(), nil
}
