package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the last column of the faults in docs/testing.md again")

const testingPage = "../../docs/testing.md"

// named returns the names of all tests, and all texts that name a scenario or a
// behaviour of a suite.
func named(t *testing.T) (tests, texts map[string]bool) {
	tests, texts = map[string]bool{}, map[string]bool{}
	for _, s := range tree(t) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if s.test() && strings.HasPrefix(n.Name.Name, "Test") {
					tests[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					texts[text] = true
				}
			}
			return true
		})
	}
	return tests, texts
}

func TestEachTestThatThePageNamesExists(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(testingPage)
	require.NoError(t, err)
	promises, _, _ := strings.Cut(string(page), "## Faults")
	tests, texts := named(t)
	found := 0
	for _, m := range regexp.MustCompile("`([A-Z]\\w+)`|\"([^\"]+)\"").FindAllStringSubmatch(promises, -1) {
		found++
		name := m[1] + m[2]
		require.True(t, tests[name] || texts[name], "docs/testing.md names %q, which is no test, scenario or behaviour", name)
	}
	require.Greater(t, found, 30)
	for n := range 8 {
		require.Contains(t, promises, fmt.Sprintf("| **P%d** ", n+1))
	}
}

// faultName matches tests and scenarios that are named after rows.
var (
	faultName = regexp.MustCompile(`^(?:Test)?Fault(\d\d)((?:And\d\d)*)[A-Z]\w+$`)
	faultRow  = regexp.MustCompile(`(?m)^(\| (\d+) \| [^|]+ \| )(.*) \|$`)
)

func TestTheCatalogueNamesEachTestThatIsNamedAfterARow(t *testing.T) {
	t.Parallel()
	tests, texts := named(t)
	of := map[int][]string{}
	for _, name := range slices.Sorted(maps.Keys(merged(tests, texts))) {
		m := faultName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		for _, row := range append(strings.Split(m[2], "And")[1:], m[1]) {
			n, err := strconv.Atoi(row)
			require.NoError(t, err)
			of[n] = append(of[n], "`"+name+"`")
		}
	}
	page, err := os.ReadFile(testingPage)
	require.NoError(t, err)
	rows := 0
	want := faultRow.ReplaceAllStringFunc(string(page), func(line string) string {
		rows++
		m := faultRow.FindStringSubmatch(line)
		n, _ := strconv.Atoi(m[2])
		if len(of[n]) == 0 {
			return m[1] + "– |"
		}
		return m[1] + strings.Join(of[n], ", ") + " |"
	})
	require.Equal(t, 60, rows)
	if *update {
		require.NoError(t, os.WriteFile(testingPage, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(page), "run go test ./internal/archtest -run Catalogue -update")
}

func merged(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
