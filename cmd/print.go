package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// bindJSON adds --json to a command that prints things.
func bindJSON(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "json", false, "print one JSON object on each line")
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
	t.row(header...)
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
