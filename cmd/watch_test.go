package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestAWatchedListIsPrintedUntilTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		table         bool
		errs          map[int]error // of the calls of print
		out, reported string
		err           error
	}{
		"a table":         {table: true, out: "--- 2000-01-01T00:00:00Z\nlist 0\n--- 2000-01-01T00:00:02Z\nlist 1\n--- 2000-01-01T00:00:04Z\nlist 2\n"},
		"JSON":            {out: "list 0\n\nlist 1\n\nlist 2\n"},
		"no first answer": {table: true, errs: map[int]error{0: fault.ErrUnavailable}, err: fault.ErrUnavailable},
		"an outage":       {errs: map[int]error{1: fmt.Errorf("it is %w", fault.ErrUnavailable)}, out: "list 0\n\nlist 2\n", reported: "leasehold: it is unavailable\n"},
		"an error":        {errs: map[int]error{1: fault.ErrForbidden}, out: "list 0\n", err: fault.ErrForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errs bytes.Buffer
				w := watch{app: &app{out: &out, err: &errs}, every: 2 * time.Second, title: "leasehold actions", table: c.table}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				n := 0
				err := w.run(ctx, func() error {
					defer func() { n++ }()
					if c.errs[n] != nil {
						return c.errs[n]
					}
					_, err := fmt.Fprintln(w.out, "list", n)
					return err
				})
				require.True(t, errors.Is(err, c.err), "%v", err)
				require.Equal(t, c.out, out.String())
				require.Equal(t, c.reported, errs.String())
			})
		})
	}
}

func TestAListIsDrawnWithinTheTerminal(t *testing.T) {
	t.Parallel()
	const end = "\x1b[K\n"
	require.Equal(t, "\x1b[2J\x1b[Hhead"+end+"one"+end+"two"+end+"\x1b[J", redrawn("head", "one\ntwo\n", 10, 24, true))
	require.Equal(t, "\x1b[Hhead"+end+"abcd…"+end+"… an…"+end+"\x1b[J", redrawn("head", "abcdef\ntwo\nthree\n", 5, 4, false))
	require.Equal(t, "\x1b[Ha b"+end+"\x1b[J", redrawn("a\x1b[31m\nb", "", 10, 24, false))
}
