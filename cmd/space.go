package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/tuple"
)

// notation describes how to write the fields of tuples and templates.
const notation = `Each word is a field: 42 is an int64, 4.2 a float64, true a bool, nil is nil,
and (a 1) a nested tuple. int:1 names its type (bool, int, int32, int64,
float32, float64, string, bytes in hexadecimal). Any other word is a string,
also '42' (in a shell: "'42'"). Put a word that begins with - after --, or write
it as int64:-7.`

const templates = notation + `

In a template, ?string matches any string, and so for the other types (quote it,
because a shell expands ?). A ... at the end matches the rest of the tuple.`

// newSpace is `leasehold space`.
func (a *app) newSpace() *cobra.Command {
	c := &cobra.Command{
		Use:   "space",
		Short: "list, create and delete spaces; query, put and take tuples",
	}
	c.AddCommand(a.newSpaceList(), a.newSpaceCreate(), a.newSpaceDelete(), a.newSpaceCount(), a.newSpaceQuery(), a.newSpacePut(), a.newSpaceGet())
	return c
}

// newSpaceList is `leasehold space list`.
func (a *app) newSpaceList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "print the spaces, and how many tuples each has",
		Args:  cobra.NoArgs,
	}
	o := bindOutput(c)
	return a.watchable(a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		spaces, err := api.Spaces(ctx)
		if err != nil {
			return err
		}
		return show(a, o, spaceRows(spaces), "no spaces")
	}))
}

// spaceRow is a space as a row.
type spaceRow struct{ types.Space }

func (r spaceRow) columns() []column {
	var notes []string
	if r.Volatile {
		notes = append(notes, "volatile")
	}
	if r.QueryOnly {
		notes = append(notes, "query only")
	}
	return []column{
		{head: "space", cell: r.Name}, {head: "visible", cell: fmt.Sprint(r.Visible)}, {head: "held", cell: fmt.Sprint(r.Held)},
		{head: "kind", cell: strings.Join(append([]string{r.Kind}, notes...), ", "), fit: cut},
	}
}

func spaceRows(spaces []types.Space) []spaceRow {
	return rowsOf(spaces, func(s types.Space) spaceRow { return spaceRow{s} })
}

// counted is the row of `leasehold space count`.
type counted struct {
	Space    string `json:"space"`
	Template string `json:"template"`
	Count    int    `json:"count"`
}

func (r counted) columns() []column {
	return []column{{head: "space", cell: r.Space}, {head: "template", cell: r.Template, fit: cut}, {head: "count", cell: fmt.Sprint(r.Count)}}
}

// newSpaceCount is `leasehold space count`.
func (a *app) newSpaceCount() *cobra.Command {
	var held bool
	c := &cobra.Command{
		Use:   "count SPACE [FIELD…]",
		Short: "count tuples",
		Long:  "Count the tuples that match a template, or all tuples without one.\n\n" + templates,
		Args:  cobra.MinimumNArgs(1),
	}
	o := bindOutput(c)
	c.Flags().BoolVar(&held, "held", false, "include held tuples")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		line, err := listTemplate(args[1:])
		if err != nil {
			return err
		}
		page, err := api.Tuples(ctx, args[0], line, held, 0)
		if err != nil {
			return err
		}
		if !o.structured() {
			_, err := fmt.Fprintln(a.out, page.Total)
			return err
		}
		return showOne(a, o, counted{args[0], line, page.Total})
	})
}

// listTemplate checks the template of a list, and writes it in the form that the API reads. No
// words match all tuples, and a last word ... matches any further fields. Words that are not a
// template give fault.ErrUsage.
func listTemplate(words []string) (string, error) {
	if len(words) == 0 {
		return tuple.RestWord, nil
	}
	p, open, err := tuple.ParseTemplate(words)
	switch {
	case err != nil:
		return "", usagef("template: %s", err)
	case !open:
		return p.Line(), nil
	}
	return strings.TrimSpace(p.Line() + " " + tuple.RestWord), nil
}

// takeTemplate checks the template of a get, which names every field, and writes it in the form
// that the API reads. Other words, such as a last ..., give fault.ErrUsage.
func takeTemplate(words []string) (string, error) {
	p, open, err := tuple.ParseTemplate(words)
	switch {
	case err != nil:
		return "", usagef("template: %s", err)
	case open:
		return "", usagef("template: ... is only for query and count; write every field, such as ?string")
	}
	return p.Line(), nil
}

// tupleRow is a tuple as a row.
type tupleRow struct{ types.Tuple }

func (r tupleRow) columns() []column {
	state := r.State
	if r.Holder != "" {
		state += " by " + r.Holder
	}
	return []column{{head: "tuple", cell: r.Line, fit: cut}, {head: "state", cell: state, fit: cut}}
}

// newSpaceQuery is `leasehold space query`.
func (a *app) newSpaceQuery() *cobra.Command {
	var held bool
	c := &cobra.Command{
		Use:     "query SPACE [FIELD…]",
		Short:   "print tuples without taking them",
		Long:    "Print the tuples that match a template, or all tuples without one. The exit code\nis 1 if there are none.\n\n" + templates,
		Example: "  leasehold space query task research ...",
		Args:    cobra.MinimumNArgs(1),
	}
	o := bindOutput(c)
	c.Flags().BoolVar(&held, "held", false, "include held tuples")
	most := bindLimit(c)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		line, err := listTemplate(args[1:])
		if err != nil {
			return err
		}
		page, err := api.Tuples(ctx, args[0], line, held, int(*most))
		if err != nil {
			return err
		}
		rows := rowsOf(page.Items, func(t types.Tuple) tupleRow { return tupleRow{t} })
		if page.Total == 0 {
			if o.structured() {
				err = show(a, o, rows, "")
			}
			return errors.Join(err, fmt.Errorf("space %s: no tuple matches %s: %w", args[0], line, fault.ErrNotFound))
		}
		if err := show(a, o, rows, "no tuples"); err != nil {
			return err
		}
		return a.reportTruncated(len(rows), page.Omitted, page.Total)
	})
}

// A limit is the maximum number of rows of a list; client.All (-1) is all.
type limit int

// bindLimit adds --limit to a command whose list may be long.
func bindLimit(c *cobra.Command) *limit {
	l := limit(client.TuplesPage)
	c.Flags().Var(&l, "limit", "maximum number of rows; -1 is all")
	return &l
}

// Set accepts 1 or more, and -1 for all; any other text is an error.
func (l *limit) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 && n != -1 {
		return errors.New("want 1 or more, or -1 for all")
	}
	*l = limit(n)
	return nil
}

func (l *limit) String() string { return strconv.Itoa(int(*l)) }

func (l *limit) Type() string { return "number" }

// reportTruncated tells standard error how many rows were left out of a list: omitted because of
// their size, and the rest of total because of --limit. The error is one of writing.
func (a *app) reportTruncated(shown, omitted, total int) error {
	var err error
	if omitted > 0 {
		_, err = fmt.Fprintf(a.err, "leasehold: %d more are too large to show\n", omitted)
	}
	if err == nil && shown+omitted < total {
		_, err = fmt.Fprintf(a.err, "leasehold: %d of %d shown; raise --limit to see more\n", shown, total)
	}
	return err
}

// needID returns a usage error if name is not a valid id. what is the thing that it names.
func needID(what, name string) error {
	if models.ValidID(name) {
		return nil
	}
	return usagef("%s: invalid id %q: want 1 to 128 of A-Z a-z 0-9 . _ : -", what, name)
}

// newSpacePut is `leasehold space put`.
func (a *app) newSpacePut() *cobra.Command {
	var ttl time.Duration
	c := &cobra.Command{
		Use:     "put SPACE FIELD…",
		Short:   "put a tuple",
		Long:    "Put a tuple.\n\n" + notation,
		Example: "  leasehold space put log note shopping 'two words' 42",
		Args:    cobra.MinimumNArgs(2),
	}
	c.Flags().DurationVar(&ttl, "ttl", 0, "how long the tuple stays; 0 is until it is taken")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		t, err := tuple.ParseTuple(args[1:])
		if err != nil {
			return usagef("tuple: %s", err)
		}
		put, err := api.Put(ctx, args[0], t.Line(), ttl)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.out, "put %s\n", put.Line)
		return err
	})
}

// newSpaceGet is `leasehold space get`.
func (a *app) newSpaceGet() *cobra.Command {
	var timeout time.Duration
	var noWait bool
	c := &cobra.Command{
		Use:   "get SPACE FIELD…",
		Short: "take a tuple, and wait for one if necessary",
		Long: `Take a tuple that matches a template, and wait until there is one. The exit code
is 1 if none comes in time. If this process or the network fails just when the
tuple is taken, the tuple is lost.

` + templates,
		Args: cobra.MinimumNArgs(2),
	}
	o := bindOutput(c)
	c.Flags().DurationVar(&timeout, "timeout", -1, "how long to wait (default: until interrupted)")
	c.Flags().BoolVar(&noWait, "no-wait", false, "do not wait; the same as --timeout 0s")
	c.Flags().Lookup("timeout").DefValue = "0s" // hides the default in the help
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if c.Flags().Changed("timeout") && (noWait || timeout < 0) {
			return usagef("--timeout must not be negative and cannot be combined with --no-wait")
		}
		if noWait {
			timeout = 0
		}
		line, err := takeTemplate(args[1:])
		if err != nil {
			return err
		}
		t, err := api.Get(ctx, args[0], line, timeout)
		if err != nil {
			return err
		}
		if !o.structured() {
			_, err := fmt.Fprintln(a.out, t.Line)
			return err
		}
		return showOne(a, o, tupleRow{t})
	})
}
