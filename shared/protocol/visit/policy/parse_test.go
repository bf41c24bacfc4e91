package policy

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each row of the table in docs/visits.md has names and their defaults; the first two rows have
// defaults of single kinds beside them.
func TestTheDefaultsOfTheRulesAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/visits.md")
	require.NoError(t, err)
	table, _, ok := strings.Cut(string(text), "\nTo apply a rule to one kind of origin")
	require.True(t, ok)
	_, table, ok = strings.Cut(table, "| rule | default | meaning |\n")
	require.True(t, ok)
	table = strings.NewReplacer("12h; feeds 15m, repositories 1h", "12h", "feeds and repositories 12h, else 0; 0.05", "0, 0.05").Replace(table)
	var rules, names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)` \\| (.*?) \\|").FindAllStringSubmatch(table, -1) {
		defaults := strings.Split(row[2], ", ")
		for i, name := range strings.Split(row[1], "`, `") {
			rules, names = append(rules, name+"="+defaults[i]), append(names, name)
		}
	}
	slices.Sort(names)
	var r Rules
	require.Equal(t, slices.Sorted(maps.Keys(r.fields())), names)
	for _, rule := range rules {
		same, err := ParseRules(rule)
		require.NoError(t, err)
		require.Equal(t, DefaultRules(), same, rule)
	}
}

func TestEachRuleIsSetByItsName(t *testing.T) {
	t.Parallel()
	values := map[reflect.Type]string{reflect.TypeFor[int](): "7", reflect.TypeFor[float64](): "0.75", reflect.TypeFor[string](): ByUpdate, reflect.TypeFor[[]int](): "3/3/3/3/3/9"}
	var defaults Rules
	for name, field := range defaults.fields() {
		value := values[reflect.TypeOf(field).Elem()]
		switch {
		case name == "failed-growth":
			value = "7.5"
		case value == "":
			value = "77s"
		}
		got, err := ParseRules(name + "=" + value)
		require.NoError(t, err, name)
		want := DefaultRules()
		for other, to := range got.fields() {
			require.Equal(t, other == name, !reflect.DeepEqual(to, want.fields()[other]), "%s=%s: %s", name, value, other)
		}
		_, err = ParseRules(name + "=x/y")
		require.ErrorContains(t, err, name, "the error names the rule")
	}
	got, err := ParseRules("intervals=3/4/5,first-index=2")
	require.NoError(t, err)
	require.Equal(t, []int{3, 4, 5}, got.Intervals)
}
