package cmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// The forms in which a command that reads prints.
const (
	asTable = "table" // aligned columns, for people
	asJSON  = "json"  // one document: a list of objects, or the one object
	asLines = "jsonl" // one object on each line
	asCSV   = "csv"   // RFC 4180, the first line names the fields
)

var outputs = []string{asTable, asJSON, asLines, asCSV}

// output is what -o or --json says. As a flag it accepts a word of outputs.
type output struct {
	form string
	said string // the flag that said so
}

// bindOutput adds -o and --json to a command that reads.
func bindOutput(c *cobra.Command) *output {
	o := &output{form: asTable}
	c.Flags().VarP(o, "output", "o", "how it is printed")
	c.Flags().BoolFunc("json", "print one JSON object on each line: short for -o jsonl", func(v string) error {
		if yes, err := strconv.ParseBool(v); err != nil || !yes {
			return err
		}
		return o.set("--json", asLines)
	})
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return o
}

// Set is part of pflag.Value.
func (o *output) Set(form string) error {
	if !slices.Contains(outputs, form) {
		return fmt.Errorf("it must be one of %s", strings.Join(outputs, ", "))
	}
	return o.set("-o", form)
}

func (o *output) set(flag, form string) error {
	if o.said != "" && o.said != flag {
		return fmt.Errorf("%s goes not with %s", flag, o.said)
	}
	o.form, o.said = form, flag
	return nil
}

func (o *output) String() string { return o.form }

// Type is part of pflag.Value.
func (o *output) Type() string { return strings.Join(outputs, "|") }

// A row is a thing that is printed: a struct whose JSON fields (docs/json.md) are
// also those of CSV, and which knows its columns in a table. They do not depend on
// its value.
type row interface{ columns() []column }

// A column is one of a table.
type column struct {
	head, cell string
	detail     bool // only where one row is shown, and the cell is not empty
}

// show prints rows; none is what a table says when there are none.
func show[T row](a *app, o *output, rows []T, none string) error {
	switch o.form {
	case asJSON:
		return a.printIndented(append([]T{}, rows...))
	case asLines:
		return printJSONLines(a, rows)
	case asCSV:
		return printCSV(a, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.out, none)
		return err
	}
	return printTable(a, rows)
}

func printTable[T row](a *app, rows []T) error {
	var empty T
	t := a.newTable(cells(empty, func(c column) string { return strings.ToUpper(c.head) })...)
	for _, r := range rows {
		t.row(cells(r, func(c column) string { return c.cell })...)
	}
	return t.print()
}

// cells returns something of each column of a list.
func cells(r row, of func(column) string) []string {
	var cs []string
	for _, c := range r.columns() {
		if !c.detail {
			cs = append(cs, of(c))
		}
	}
	return cs
}

// showOne prints one row; a table has a line for each column.
func showOne[T row](a *app, o *output, r T) error {
	switch o.form {
	case asJSON:
		return a.printIndented(r)
	case asLines:
		return a.printJSON(r)
	case asCSV:
		return printCSV(a, []T{r})
	}
	t := a.newTable()
	for _, c := range r.columns() {
		if !c.detail || c.cell != "" {
			t.row(c.head, c.cell)
		}
	}
	return t.print()
}

// bindJSON adds --json to a command that does not print rows.
func bindJSON(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "json", false, "print one JSON object on each line")
}

// printIndented prints v as one JSON document.
func (a *app) printIndented(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printJSON prints v as one line of JSON.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// printJSONLines prints each of vs as one line of JSON.
func printJSONLines[T any](a *app, vs []T) error {
	for _, v := range vs {
		if err := a.printJSON(v); err != nil {
			return err
		}
	}
	return nil
}

// table prints rows in aligned columns.
type table struct {
	w   *tabwriter.Writer
	err error
}

func (a *app) newTable(header ...string) *table {
	t := &table{w: tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)}
	if len(header) > 0 {
		t.row(header...)
	}
	return t
}

// row adds one; what would break the columns or the terminal is replaced.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, c)
	}
	if _, err := fmt.Fprintln(t.w, strings.Join(cells, "\t")); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *table) print() error {
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}
