package docs

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

func TestEveryLinkLeadsToAFileAndAHeading(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		content, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(content), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := page
			if to != "" {
				target = path.Join(path.Dir(page), to)
			}
			require.FileExists(t, existing(target), "%s links to %s", page, m[1])
			if anchor != "" {
				require.Contains(t, slugs(t, target), anchor, "%s links to %s", page, m[1])
			}
		}
	}
}

// existing returns the path of a file, or of the README or doc.go of a folder.
func existing(target string) string {
	full := filepath.Join(root, target)
	if info, err := os.Stat(full); err == nil && info.IsDir() {
		for _, name := range []string{"README.md", "doc.go"} {
			if _, err := os.Stat(filepath.Join(full, name)); err == nil {
				return filepath.Join(full, name)
			}
		}
	}
	return full
}

// slugs returns the anchors that GitHub makes of the headings of a page.
func slugs(t *testing.T, page string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	for _, m := range heading.FindAllStringSubmatch(string(content), -1) {
		all = append(all, strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

func TestArchitectureNamesEveryPackage(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	require.NoError(t, err)
	list := exec.Command("go", "list", "./...")
	list.Dir = root
	packages, err := list.Output()
	require.NoError(t, err)
	for p := range strings.FieldsSeq(string(packages)) {
		if p != "leasehold" {
			named, err := regexp.Match(`(?m)(?:^|[ /])`+path.Base(p)+`/`, content)
			require.NoError(t, err)
			require.True(t, named, "docs/architecture.md does not name %s/", p)
		}
	}
}
