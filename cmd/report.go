package cmd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/api/types"
	"leasehold/shared/config"
)

// newReport is `leasehold report`.
func (a *app) newReport() *cobra.Command {
	var n int
	var skipped, tests bool
	c := &cobra.Command{
		Use:   "report REPO",
		Short: "show large functions, complex files and languages of a repository",
		Long: `Show the functions of a repository with the highest ABC score (assignments,
branches, conditions; Go only), its files with the highest complexity, and its
languages. Generated and vendored files are left out, and tests unless --tests
is set. REPO is the id, the name, or the end of the name of an indexed
repository. -o csv prints only the functions.`,
		Args: cobra.ExactArgs(1),
	}
	out := bindOutput(c)
	c.Flags().IntVarP(&n, "limit", "n", 10, "maximum number of functions and of files")
	c.Flags().BoolVar(&skipped, "skipped", false, "list the files that are not indexed, and why, instead")
	c.Flags().BoolVar(&tests, "tests", false, "include functions and files of tests")
	config.BindFlags(c.Flags(), codeKeys...)
	run := a.withCatalog(func(ctx context.Context, s *node.CatalogSource, args []string) error {
		if skipped {
			return a.showSkipped(ctx, s, out, args[0])
		}
		r, err := s.CodeReport(ctx, types.ReportQuery{Repo: args[0], Limit: n, Tests: tests})
		if err != nil {
			return err
		}
		return a.showCodeReport(out, r)
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		if n < 0 || n > 1000 || args[0] == "" {
			return usagef("REPO must not be empty, and -n must be from 0 to 1000; got %q and %d", args[0], n)
		}
		return run(c, args)
	}
	return c
}

// showCodeReport prints a report in the format of out; as CSV only its functions.
func (a *app) showCodeReport(out *output, r types.CodeReport) error {
	switch out.form {
	case asJSON:
		return a.printIndented(r)
	case asLines:
		return a.printJSON(r)
	case asCSV:
		return show(a, out, rowsOf(r.Functions, func(f types.FunctionReport) functionRow { return functionRow{f} }), "")
	}
	return a.printCodeReport(r)
}

// printCodeReport prints a report for people.
func (a *app) printCodeReport(r types.CodeReport) error {
	_, err := sayf(a.out, "%s: %s\n", r.Repo, count(r.Files, "file"))
	if r.LeftOut > 0 {
		_, failed := sayf(a.out, "not listed: %s (--tests)\n", count(r.LeftOut, "test file"))
		err = errors.Join(err, failed)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
		_, failed := sayf(a.out, "not indexed: %d, %s\n", r.Skipped[reason], reason)
		err = errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	for _, part := range []struct {
		title string
		rows  int
		print func() error
	}{
		{"Functions by ABC score", len(r.Functions), func() error {
			return printTable(a, rowsOf(r.Functions, func(f types.FunctionReport) functionRow { return functionRow{f} }))
		}},
		{"Files by complexity", len(r.Complex), func() error {
			return printTable(a, rowsOf(r.Complex, func(f types.IndexedFile) complexRow { return complexRow{f} }))
		}},
		{"Languages by lines of code", len(r.Languages), func() error {
			return printTable(a, rowsOf(r.Languages, func(l types.LanguageReport) languageRow { return languageRow{l} }))
		}},
	} {
		if part.rows == 0 {
			continue
		}
		if _, err := sayf(a.out, "\n%s\n", part.title); err != nil {
			return err
		}
		if err := part.print(); err != nil {
			return err
		}
	}
	return nil
}

// maxSkipped is how many files that are not indexed are listed.
const maxSkipped = 100_000

// showSkipped prints the first maxSkipped files of a repository that are not indexed, with the reasons.
func (a *app) showSkipped(ctx context.Context, s *node.CatalogSource, out *output, repo string) error {
	page, err := s.IndexedFiles(ctx, repo, true, maxSkipped)
	if err != nil {
		return err
	}
	return show(a, out, rowsOf(page.Items, func(f types.IndexedFile) skippedRow { return skippedRow{f} }), "every file is indexed")
}

// rowsOf returns items converted to rows, in their order.
func rowsOf[S, T any](items []S, convert func(S) T) []T {
	rows := make([]T, len(items))
	for i, item := range items {
		rows[i] = convert(item)
	}
	return rows
}

type functionRow struct{ types.FunctionReport }

func (r functionRow) columns() []column {
	name := r.Function
	if r.Receiver != "" {
		name = r.Receiver + "." + name
	}
	return []column{
		{head: "score", cell: strconv.FormatFloat(r.Score, 'f', 1, 64)}, {head: "a", cell: strconv.Itoa(r.A)}, {head: "b", cell: strconv.Itoa(r.B)},
		{head: "c", cell: strconv.Itoa(r.C)}, {head: "function", cell: name, fit: cut}, {head: "place", cell: r.Path + ":" + strconv.Itoa(r.Line), fit: cutStart},
	}
}

type complexRow struct{ types.IndexedFile }

func (r complexRow) columns() []column {
	return []column{
		{head: "complexity", cell: strconv.Itoa(r.Complexity)}, {head: "code", cell: strconv.Itoa(r.Code)}, {head: "language", cell: r.Lang}, {head: "path", cell: r.Path, fit: cutStart},
	}
}

type languageRow struct{ types.LanguageReport }

func (r languageRow) columns() []column {
	name := r.Lang
	if name == "" {
		name = "unknown"
	}
	return []column{
		{head: "language", cell: name}, {head: "files", cell: strconv.Itoa(r.Files)}, {head: "lines", cell: strconv.Itoa(r.Lines)},
		{head: "code", cell: strconv.Itoa(r.Code)}, {head: "comment", cell: strconv.Itoa(r.Comment)},
	}
}

type skippedRow struct{ types.IndexedFile }

func (r skippedRow) columns() []column {
	return []column{{head: "path", cell: r.Path, fit: cutStart}, {head: "bytes", cell: strconv.FormatInt(r.Bytes, 10)}, {head: "reason", cell: r.Skipped, fit: wrap}}
}
