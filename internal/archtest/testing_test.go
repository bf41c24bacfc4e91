package archtest

import (
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

func TestEachThreatNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	_, threats, _ := strings.Cut(string(page), "## Threats and their tests")
	threats, _, _ = strings.Cut(threats, "\n## ")
	tests, _ := named(t)
	rows := regexp.MustCompile(`(?m)^\| .* \|$`).FindAllString(threats, -1)
	require.Greater(t, len(rows), 15)
	for _, row := range rows[1:] {
		names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(row, -1)
		require.NotEmpty(t, names, row)
		for _, m := range names {
			require.True(t, tests[m[1]], "docs/security.md names %s, which is no test", m[1])
		}
	}
}

// faultName matches tests and scenarios that are named after rows.
var (
	faultName = regexp.MustCompile(`^(?:Test)?Fault(\d\d)((?:And\d\d)*)[A-Z]\w+$`)
	faultRow  = regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \|$`)
)

func TestEachFaultOfTheCatalogueHasATest(t *testing.T) {
	t.Parallel()
	tests, texts := named(t)
	tested := map[int]bool{}
	for name := range merged(tests, texts) {
		m := faultName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		for _, row := range append(strings.Split(m[2], "And")[1:], m[1]) {
			n, err := strconv.Atoi(row)
			require.NoError(t, err)
			tested[n] = true
		}
	}
	page, err := os.ReadFile(testingPage)
	require.NoError(t, err)
	listed := map[int]bool{}
	for _, m := range faultRow.FindAllStringSubmatch(string(page), -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		listed[n] = true
	}
	require.Greater(t, len(listed), 50)
	require.Equal(t, slices.Sorted(maps.Keys(tested)), slices.Sorted(maps.Keys(listed)), "rows of docs/testing.md, and numbers in names of tests")
}

func merged(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
