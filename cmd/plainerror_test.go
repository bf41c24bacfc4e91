package cmd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestAnErrorIsPrintedWithoutProceduresAndRepeatedKinds(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		`task "t9": not found: it has ended, or never was`: fmt.Errorf(`call task.cancel: task "t9": %w: it has ended, or never was`, fault.ErrNotFound),
		`dead letter "t8": not found`:                      fmt.Errorf(`call task.showdead: dead letter "t8": %w`, fault.ErrNotFound),
		`schedule "never was": not found`:                  fmt.Errorf(`schedule "never was": %w`, fault.ErrNotFound),
		`origin /nowhere: no such file or folder`:          fmt.Errorf("origin /nowhere: no such file or folder: %w", fault.ErrNotFound),
		`max_attempts 5000: want 1 to 1000`:                fmt.Errorf("call task.create: %w: max_attempts 5000: want 1 to 1000", fault.ErrInvalid),
		`limit api: want a maximum or a rate`:              fmt.Errorf("limit api: %w: want a maximum or a rate", fault.ErrInvalid),
		`query "a or": at 5: want a word`:                  usageError(fmt.Sprintf(`query "a or": at 5: want a word: %s`, fault.ErrInvalid)),
		`dead letter t3: task t4 has its unique key "k"`:   fmt.Errorf(`dead letter t3: task t4 has its unique key "k": %w`, fault.ErrConflict),
		`space "notes": conflict`:                          fmt.Errorf(`space "notes": %w`, fault.ErrConflict),
		`an invalid: thing; task: closed`:                  errors.New("an invalid: thing; task: closed"),
		"first: want one of two\nsecond":                   errors.Join(fmt.Errorf("first: want one of two: %w", fault.ErrInvalid), errors.New("second")),
	} {
		require.Equal(t, want, strings.Join(plainError(err), "\n"))
	}
}
