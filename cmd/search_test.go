package cmd

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

func TestFileNamesOfASearchAreCleanedInAPipeAsOnATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newMatchPrinter(&out, 1)
	m := types.CodeMatch{Repo: "re\u202epo", Branch: "b\x1b[2J", Path: "new\nline\tand\x1b]0;title\x07\xff.txt", Line: 2, Text: "a \x1b[31mred\x07", Before: []string{"one"}}
	require.NoError(t, p.print(m))
	m.Line = 0
	require.NoError(t, p.print(m))
	const place = "repo@b:new line and\uFFFD.txt"
	require.Equal(t, place+"-1-one\n"+place+":2:a \x1b[31mred\x07\n--\n"+place+"\n", out.String())
}
