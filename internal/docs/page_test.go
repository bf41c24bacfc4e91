package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
)

const root = "../.."

// binaryDir has the real binary, built once for all tests.
var binaryDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if binaryDir, err = os.MkdirTemp("", "leasehold-docs-"); err == nil {
			defer os.RemoveAll(binaryDir)
			err = binary.Build(filepath.Join(binaryDir, "leasehold"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// pages returns the paths of the documents with commands, relative to the root.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	for _, pattern := range []string{"CONTRIBUTING.md", "docs/*.md", "examples/README.md", "examples/*/README.md", "clients/*/README.md", "tup4fun/protocols/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, p := range found {
			rel, err := filepath.Rel(root, p)
			require.NoError(t, err)
			all = append(all, rel)
		}
	}
	slices.Sort(all)
	return all
}

// A block is what stands between two fences of a page.
type block struct {
	page string
	line int    // of the opening fence
	info string // what follows the opening fence, such as "sh"
	text string
	file string // file that the paragraph before names in backquotes; empty: none
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// parsedOnly returns why the commands of a block are parsed and not executed. A block
// with such commands begins with ```sh parsed: REASON.
func (b block) parsedOnly() (reason string, ok bool) { return strings.CutPrefix(b.info, "sh parsed: ") }

var fenceLine = regexp.MustCompile("^ {0,3}```")

var namedFile = regexp.MustCompile("`([A-Za-z0-9-]+\\.(?:tup|map|yaml|json|sh|py|mjs|java))`")

// blocks returns the fenced blocks of a page. Indented code is an error, because its
// info string is missing, which decides whether it is executed.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	var all []block
	var open *block
	var lines []string
	file, blank := "", true
	for i, line := range strings.Split(string(content), "\n") {
		fence := fenceLine.MatchString(line) // a fence in a list is indented
		if fence {
			line = strings.TrimLeft(line, " ")
		}
		switch {
		case fence && open == nil:
			open, lines = &block{page: page, line: i + 1, info: strings.TrimPrefix(line, "```"), file: file}, nil
			require.NotEmpty(t, open.info, "%s: want an info string after the fence, such as sh, output or text", open)
		case fence:
			require.Equal(t, "```", line, "%s: want ``` alone in the line that closes the block", open)
			open.text = strings.Join(lines, "\n") + "\n"
			all = append(all, *open)
			open, file = nil, ""
		case open != nil:
			lines = append(lines, line)
		default:
			require.False(t, blank && strings.HasPrefix(line, "    "), "%s:%d: want a fenced block, not indented code", page, i+1)
			if m := namedFile.FindAllStringSubmatch(line, -1); m != nil {
				file = m[len(m)-1][1]
			} else if blank {
				file = ""
			}
		}
		blank = line == "" && open == nil
		if blank && open == nil && len(lines) > 0 {
			lines = nil
		}
	}
	require.Nil(t, open, "%s: the block is not closed", page)
	return all
}
