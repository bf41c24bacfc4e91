package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"leasehold/shared/process/wording"
)

// The formats in which commands print rows.
const (
	asTable = "table" // aligned columns, for people
	asJSON  = "json"  // one document: an array of objects, or one object
	asLines = "jsonl" // one object on each line
	asCSV   = "csv"   // RFC 4180, the first line names the fields
)

var outputs = []string{asTable, asJSON, asLines, asCSV}

// output is the format that -o or --json selects. As a flag it accepts one of outputs.
type output struct {
	form string
	flag string // the flag that selected it; empty if none did
}

// bindOutput adds -o and --json to a command that prints rows.
func bindOutput(c *cobra.Command) *output {
	o := &output{form: asTable}
	c.Flags().VarP(o, "output", "o", "output format: table, json, jsonl or csv")
	c.Flags().BoolFunc("json", "print one JSON object a line; same as -o jsonl", func(v string) error {
		if yes, err := strconv.ParseBool(v); err != nil || !yes {
			return err
		}
		return o.set("--json", asLines)
	})
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return o
}

// Set implements pflag.Value, for the flag -o. Another form is an error that lists the forms.
func (o *output) Set(form string) error {
	if !slices.Contains(outputs, form) {
		return fmt.Errorf("want one of %s", strings.Join(outputs, ", "))
	}
	return o.set("-o", form)
}

// set sets the form that a flag chooses. It is an error if another flag has chosen one.
func (o *output) set(flag, form string) error {
	if o.flag != "" && o.flag != flag {
		return fmt.Errorf("%s cannot be combined with %s", flag, o.flag)
	}
	o.form, o.flag = form, flag
	return nil
}

// structured reports whether the output is for programs. A command may print other text than a
// table if it is not.
func (o *output) structured() bool { return o.form != asTable }

func (o *output) String() string { return o.form }

func (o *output) Type() string { return "format" }

// A row is a struct that commands print. Its JSON fields (docs/json.md) are also the fields
// of CSV, and columns returns those of a table. How many there are, and their heads, must
// not depend on its value.
type row interface{ columns() []column }

// A column is a column of a table.
type column struct {
	head, cell string
	detail     bool // shown only in showOne, and only if the cell is not empty
	rare       bool // left out of a table if the cell of every row is empty, and of one row if its cell is
	fit        fit  // in a table of several rows
}

// show prints rows in the format of o. In place of a table without rows it prints none; the other formats
// print an empty list.
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
		_, err := sayf(a.out, "%s\n", none)
		return err
	}
	return printTable(a, rows)
}

// printTable prints rows with a head, which comes from the zero value of T; see row. Details are left
// out, and so are rare columns in which no row has a cell.
func printTable[T row](a *app, rows []T) error {
	filled := map[string]bool{} // heads of the columns in which a row has a cell
	for _, r := range rows {
		for _, c := range r.columns() {
			filled[c.head] = filled[c.head] || c.cell != ""
		}
	}
	shown := func(r row) (columns []column) {
		return slices.DeleteFunc(r.columns(), func(c column) bool { return c.detail || c.rare && !filled[c.head] })
	}
	t := a.newTable()
	var empty T
	var heads []string
	for _, c := range shown(empty) {
		heads, t.fits = append(heads, strings.ToUpper(c.head)), append(t.fits, c.fit)
	}
	t.row(heads...)
	for _, r := range rows {
		var cells []string
		for _, c := range shown(r) {
			cells = append(cells, c.cell)
		}
		t.row(cells...)
	}
	return t.print()
}

// showOne prints one row; a table has a line for each column, but for details and rare columns
// only if they have a cell.
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
		if !c.detail && !c.rare || c.cell != "" {
			t.row(c.head, c.cell)
		}
	}
	return t.print()
}

// bindJSON adds --json to a command that does not print rows.
func bindJSON(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "json", false, "print one JSON object a line")
}

// printIndented prints v as one JSON document.
func (a *app) printIndented(v any) error { return a.encode(v, "  ") }

// printJSON prints v as one line of JSON.
func (a *app) printJSON(v any) error { return a.encode(v, "") }

// encode prints v as JSON. Characters that control a terminal and that JSON need not escape are escaped too.
func (a *app) encode(v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(a.out, escapeJSON(b.String()))
	return err
}

// escapeJSON returns a JSON text in which the characters from U+007F on that control a terminal or reorder its text
// are escaped. They occur only in strings.
func escapeJSON(text string) string {
	isControl := func(r rune) bool { return r >= 0x7f && (r <= 0x9f || unicode.Is(unicode.Bidi_Control, r)) }
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
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

// sayf is fmt.Fprintf for text that people read: strings, errors and values with a String method among args are
// printable, because others may have written them. A text of several lines must be passed line by line.
func sayf(w io.Writer, format string, args ...any) (int, error) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = wording.Printable(arg)
		case error:
			args[i] = wording.Printable(arg.Error())
		case fmt.Stringer:
			args[i] = wording.Printable(arg.String())
		default:
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String { // of a type such as models.OriginKind
				args[i] = wording.Printable(v.String())
			}
		}
	}
	return fmt.Fprintf(w, format, args...)
}

// printableLines is printable for a text of several lines.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = wording.Printable(line)
	}
	return strings.Join(lines, "\n")
}
