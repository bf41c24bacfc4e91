package docs

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	metricName   = regexp.MustCompile(`"(leasehold_[a-z_]+)"`)
	nameInExpr   = regexp.MustCompile(`\bleasehold_[a-z_]+\b`)
	partOfSeries = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// metricNames returns the names of all metrics in the sources.
func metricNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, folder := range []string{"coordinator/api", "node", "shared/process/exposition"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			for _, m := range metricName.FindAllStringSubmatch(string(content), -1) {
				names[m[1]] = true
			}
			return err
		}))
	}
	return names
}

func TestDashboardAndAlertsUseMetricsThatExist(t *testing.T) {
	t.Parallel()
	names := metricNames(t)
	require.Greater(t, len(names), 50)
	requireKnown := func(expr string) {
		t.Helper()
		for _, name := range nameInExpr.FindAllString(expr, -1) {
			require.True(t, names[name] || names[partOfSeries.ReplaceAllString(name, "")], "%s in %s", name, expr)
		}
	}
	content, err := os.ReadFile(filepath.Join(root, "docs/monitoring/dashboard.json"))
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(content, &dashboard))
	require.NotEmpty(t, dashboard.Panels)
	for _, p := range dashboard.Panels {
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			requireKnown(target.Expr)
		}
	}
	for _, file := range []string{"alerts.yml", "alerts_test.yml"} {
		content, err := os.ReadFile(filepath.Join(root, "docs/monitoring", file))
		require.NoError(t, err)
		requireKnown(string(content))
	}
}

func TestPrometheusAcceptsRulesAndExpressions(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Log("left out: the alert rules, because promtool is not installed")
		return
	}
	promtool := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "promtool", args...)
		c.Dir = filepath.Join(root, "docs/monitoring")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	promtool("check", "rules", "alerts.yml")
	promtool("test", "rules", "alerts_test.yml")

	// The expressions of the dashboard as rules, because promtool checks no expressions alone.
	content, err := os.ReadFile(filepath.Join(root, "docs/monitoring/dashboard.json"))
	require.NoError(t, err)
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, m := range regexp.MustCompile(`"expr": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(content), -1) {
		rules.WriteString("  - {record: 'x', labels: {panel: " + m[1] + "}, expr: " + strings.ReplaceAll(m[1], "$__rate_interval", "1m") + "}\n")
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	require.NoError(t, os.WriteFile(file, []byte(rules.String()), 0o600))
	promtool("check", "rules", file)
}
