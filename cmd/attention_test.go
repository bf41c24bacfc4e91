package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestAttentionIsTheFirstLinesOfStatus(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{out: &out}
	items := []models.Attention{
		{Severity: models.StopsWork, Since: time.Date(2026, 3, 5, 3, 0, 9, 0, time.UTC), Text: "<script>\x1b[2J is paused", Command: "leasehold task resume x"},
		{Severity: models.ToKnow, Text: "open", Detail: "more\nlines", Command: "y"},
	}
	require.NoError(t, a.sayAttention(items))
	require.True(t, strings.HasPrefix(out.String(), "stops work since "), out.String())
	require.NotContains(t, out.String(), "\x1b")
	require.Contains(t, out.String(), "  run: leasehold task resume x\n")
	require.Contains(t, out.String(), "to know since ")
	require.ErrorContains(t, checkAttention(items), "1 cause stops work")
	require.NoError(t, checkAttention(items[1:]))
	out.Reset()
	require.NoError(t, a.sayAttention(nil))
	require.Empty(t, out.String())
}
