package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "leasehold"

// importRule lists which packages of ours the packages below a path may import, besides each
// other. Of several rules the one with the longest path applies. A name that ends in ! is
// that package only, and not what is below it.
type importRule struct {
	path   string
	may    []string
	tests  []string // its tests may also import these
	reason string
}

// all stands for every package of ours.
const all = ""

// low are the rooms of shared that every other room may use.
var low = []string{"shared/fault", "shared/tuple", "shared/process", "models"}

// onLow returns low and further rooms.
func onLow(rooms ...string) []string { return append(rooms, low...) }

// rules is the table of imports by room: DESIGN.md, section 3. A single package has a rule of its
// own only where a promise needs it.
var rules = []importRule{
	{"", []string{"cmd"}, nil, "main only starts cmd"},
	{"cmd", []string{"node", "shared", "models", "tup4fun"}, []string{"coordinator", "internal/binary", "internal/lockedbuffer", "internal/pgserver"}, "cmd parses and prints; what opens a folder or a mode is called through node"},
	{"node", []string{"coordinator", "manager", "worker", "shared", "models"}, []string{"internal/lockedbuffer", "internal/pgserver"}, "node assembles processes of several modes, because modes do not import each other"},
	{"node/backup", low, nil, "a backup copies files and does not read them"},
	{"node/locate", []string{"shared"}, []string{"coordinator/gate"}, "a command that asks a coordinator needs no mode"},
	{"coordinator", []string{"shared", "models"}, []string{"internal/lockedbuffer", "internal/pgserver"}, "the modes never import each other: they exchange tuples"},
	{"coordinator/visits", []string{"shared/protocol/visit/policy", "shared/catalog/sqldb", "shared/process", "shared/fault", "models"}, []string{"coordinator/database", "shared/catalog", "shared/space/journal/postgres", "shared/protocol/visit/simulate", "internal/pgserver"}, "the schedule of visits is one database, which the coordinator uses"},
	{"manager", []string{"shared", "models"}, nil, "the modes never import each other: they exchange tuples"},
	{"worker", []string{"shared", "models"}, nil, "the modes never import each other: they exchange tuples"},

	{"shared", nil, nil, "shared has only a doc"},
	{"shared/api", onLow("shared/catalog", "shared/code", "shared/identity"), nil, "a client of the API does not need the coordinator"},
	{"shared/api/join", onLow("shared/api", "shared/identity"), []string{"coordinator", "shared"}, "joining is tested against the coordinator that admits"},
	{"shared/catalog", onLow("shared/pgrealm"), []string{"internal/pgserver"}, "the catalog does not depend on spaces"},
	{"shared/catalog/sqldb/sqldbtest", onLow("shared/catalog", "internal/pgserver"), nil, "the tables of tests need both databases"},
	{"shared/clips", low, nil, "clips is a library of its own"},
	{"shared/code", onLow("shared/fetch"), []string{"internal/gosource"}, "an index does not depend on the flow that fills it"},
	{"shared/code/elastic/opensearchtest", []string{"shared/process", "internal/faketime"}, nil, "a search server of tests has a clock that they set"},
	{"shared/config", onLow("shared/space/memory"), nil, "settings are plain values; cmd gives them to their users"},
	{"shared/fault", nil, nil, "the kinds of error import nothing of ours"},
	{"shared/fetch", low, nil, "fetch is a library of its own"},
	{"shared/identity", []string{"shared/fault", "shared/process"}, nil, "every mode proves its identity, and needs nothing else for it"},
	{"shared/process", []string{"shared/fault"}, nil, "every package may use what every process needs"},
	{"shared/pgrealm", low, []string{"internal/pgserver"}, "a realm is a place in a database, and knows no tables"},
	{"shared/protocol", onLow("shared/space!", "shared/space/browse", "shared/space/memory"), []string{"shared", "leaseholdtest", "internal/lockedbuffer"}, "a protocol is procedures on spaces, and knows no engine"},
	{"shared/protocol/task/tasktest", onLow("shared/space!", "shared/protocol"), nil, "the suite runs on any coordinator, and needs no engine"},
	{"shared/protocol/work/worktest", []string{"shared", "models"}, nil, "the scenarios of the protocols need an engine to run on"},
	{"shared/protocol/visit/policy", []string{"shared/process", "shared/fault", "models"}, nil, "a policy is arithmetic, and needs no space"},
	{"shared/protocol/visit/simulate", []string{"shared/protocol/visit/policy", "shared/api/strictjson", "shared/process", "shared/fault", "models"}, nil, "a simulation needs no space"},
	{"shared/space", []string{"shared/tuple", "shared/fault", "shared/process", "shared/pgrealm"}, []string{"internal/pgserver"}, "spaces do not depend on their uses"},
	{"shared/space/remote", []string{"shared/space", "shared/tuple", "shared/fault", "shared/process", "shared/identity"}, nil, "a client of a gate with TLS recognises one without"},
	{"shared/space/trace", []string{"shared/tuple", "shared/process/platform"}, nil, "a trace is read without the engine that wrote it, also while it is renamed"},
	{"shared/tuple", nil, nil, "programs use tuples without the rest"},
	{"models", nil, nil, "the vocabulary imports nothing of ours"},

	{"tup4fun", []string{"shared/tuple", "shared/space/trace", "shared/process/wording"}, nil, "models are checked against traces, not against code"},
	{"tup4fun/page", []string{"tup4fun", "shared/process/wording", "examples/original"}, nil, "the menu of the page has the models that examples/original prints, and only texts are there"},
	{"leaseholdtest", []string{"shared/space", "shared/protocol"}, []string{"worker", "models", "shared/fault"}, "a coordinator for tests of users has the protocols of tasks, and no mode"},
	{"gospace", onLow("spaces", "shared/identity", "shared/space", "shared/protocol/interop", "coordinator/gate"), nil, "a library for programs hosts and joins spaces, and needs no mode"},
	{"spaces", onLow("shared/identity", "shared/space", "shared/protocol/interop", "coordinator/gate"), []string{"coordinator/authority", "shared/access", "gospace"}, "a library for programs hosts spaces and opens gates, and needs no mode"},
	{"clients", nil, []string{"internal/binary", "internal/faketime", "internal/pgserver", "shared/api", "shared/identity", "shared/process/build", "shared/fault", "shared/space", "worker", "models"}, "clients of other languages are tested from outside, with Go's"},
	{"examples", []string{"shared", "models", "spaces", "gospace"}, []string{"tup4fun", "internal/binary"}, "examples are read by users, and their models are checked"},
	{"internal", []string{"shared/process/platform", "internal/faketime"}, []string{all}, "tools depend on no other package; their tests may"},
}

// restricted are modules and packages that only the packages below some paths may import. Tests
// may import them all.
var restricted = []struct{ path, only, reason string }{
	{"github.com/spf13/viper", "shared/config", "viper is used in one place"},
	{"github.com/prometheus/client_golang", "coordinator/api, shared/process/exposition", "packages count in plain numbers, which one place exports as metrics"},
	{"go.opentelemetry.io", "shared/process/tracing", "one package sends spans"},
	{"charm.land", "cmd/top", "one package draws a screen"},
	{"github.com/spf13/cobra", "cmd", "only cmd depends on the command line"},
	{"modernc.org/sqlite", "shared/catalog/sqlfile", "one package opens database files"},
	{"github.com/jackc/pgx/v5", "shared/pgrealm, shared/space/journal/postgres, shared/catalog/pgsql, coordinator/realm, internal/pgserver", "a worker does not link the client of PostgreSQL"},
	{module + "/shared/catalog/sqlfile", "shared/catalog/store, shared/catalog/sqldb/sqldbtest, coordinator/database", "a worker does not link the database"},
	{"github.com/cockroachdb/pebble", "shared/space/journal/pebble", "a worker does not link the journal's store"},
	{module + "/shared/space/journal/pebble", "cmd, node, spaces", "a worker does not link the journal's store"},
	{module + "/shared/space/journal/postgres", "cmd, node, spaces, coordinator/realm", "a worker does not link the journal's store"},
	{"github.com/mmcdole/gofeed", "manager/clips", "only the archive reads feeds"},
	{"github.com/mewkiz/flac", "shared/clips", "only audio reads formats of sound"},
	{"github.com/hajimehoshi/go-mp3", "shared/clips", "only audio reads formats of sound"},
	{"github.com/go-audio", "shared/clips", "only audio reads formats of sound"},
	{"golang.org/x/image", "shared/clips", "only audio draws pictures of sound"},
	{"gonum.org/v1/gonum", "shared/clips", "only audio uses its arithmetic"},
	{"github.com/kballard/go-shellquote", "shared/config", "one place splits commands"},
	{"github.com/robfig/cron", "shared/protocol/schedule", "one place parses cron expressions"},
	{"github.com/go-enry/go-enry", "shared/code/analyse, shared/code", "code names languages, and analyse detects them"},
	{"github.com/tidwall/btree", "shared/space/engine", "only the engine's index uses ordered sets"},
	{"github.com/RoaringBitmap/roaring", "shared/catalog", "only a catalog stores researched pairs as compressed sets"},
	{"github.com/klauspost/compress", "shared/code/segment", "only segments compress text"},
	{"github.com/go-json-experiment/json", "shared/code/elastic", "only answers of search servers are large enough"},
	{"github.com/go-git", "shared/code/gitrepo", "one package copies repositories"},
	{"os/exec", "shared/clips, shared/code/gitrepo, shared/code/analyse, shared/process/platform, worker/exec, coordinator/alert, cmd/autoscale, coordinator/conformance, shared/code/elastic/opensearchtest", "only ffmpeg, git, ctags, docker, commands of the user and the operator, the check of the trace, the programs that make the benchmark's sets, and a search server for tests are started"},
	{"unsafe", "shared/process/platform", "only a mapped file on Windows needs it"},
	{"testing", "*test", "only suites that tests call import testing"},
	{"github.com/stretchr/testify", "*test", "only suites that tests call import testing"},
	{"pgregory.net/rapid", "*test", "only suites that tests call import testing"},
}

type pkg struct {
	ImportPath string
	ForTest    string
	Standard   bool
	Imports    []string
}

// isTest reports whether p holds test files: a package as compiled for a test
// has more imports than the package itself.
func (p pkg) isTest() bool { return p.ForTest != "" }

// path is p without the mark of the test that it is compiled for.
func (p pkg) path() string { return strings.TrimSuffix(plain(p.ImportPath), "_test") }

func plain(importPath string) string {
	path, _, _ := strings.Cut(importPath, " ")
	return path
}

// ours returns what is behind "leasehold/", and whether the package is ours.
func ours(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestImportsFollowTheRules(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		from, mine := ours(p.path())
		if !mine || strings.HasSuffix(from, ".test") {
			continue
		}
		rule := ruleOf(t, from)
		for _, imported := range p.Imports {
			imported = plain(imported)
			to, mine := ours(imported)
			if mine && !rule.allows(from, to, p.isTest()) {
				t.Errorf("%s imports %s: %s (rule of %q)", p.path(), imported, rule.reason, rule.path)
			}
			if !p.isTest() {
				checkRestricted(t, from, imported)
			}
		}
	}
}

func TestATupleNeedsOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if from, _ := ours(p.path()); from != "shared/tuple" || p.isTest() {
			continue
		}
		for _, imported := range p.Imports {
			first, _, _ := strings.Cut(imported, "/")
			require.NotContains(t, first, ".", "shared/tuple imports %s: it is of use without the rest", imported)
		}
	}
}

func TestTheRulesOfImports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"", "cmd", false, true},
		{"", "shared/config", false, false},
		{"cmd", "node", false, true},
		{"cmd", "worker/clips", false, false},
		{"manager", "manager/clips", false, true},
		{"manager/clips", "worker", false, false},
		{"manager/clips", "worker", true, false},
		{"worker", "coordinator", false, false},
		{"shared/protocol/lease", "shared/space", false, true},
		{"shared/protocol/lease", "shared/space/engine", false, false},
		{"shared/protocol/lease", "shared/space/engine", true, true},
		{"shared/protocol/lease", "shared/catalog", false, false},
		{"shared/tuple", "shared/fault", false, false},
		{"shared/space/engine", "shared/space/journal", false, true},
		{"shared/space/engine", "models", false, false},
		{"shared/fetch", "cmd", true, false},
		{"models", "shared/fault", false, false},
		{"tup4fun/protocols", "shared/protocol/lease", false, false},
	} {
		require.Equal(t, c.ok, ruleOf(t, c.from).allows(c.from, c.to, c.test), "%+v", c)
	}
}

// allows reports whether a package that the rule applies to may import another of ours.
func (r importRule) allows(from, to string, test bool) bool {
	may := r.may
	if test {
		may = slices.Concat(r.may, r.tests)
	}
	if r.path != "" && within(to, r.path) || to == from {
		return true
	}
	return slices.ContainsFunc(may, func(name string) bool {
		if only, exact := strings.CutSuffix(name, "!"); exact {
			return to == only
		}
		return within(to, name)
	})
}

// within reports whether path is parent or below it.
func within(path, parent string) bool {
	return parent == all || path == parent || strings.HasPrefix(path, parent+"/")
}

// withinAny is within for parents separated by commas.
func withinAny(path, parents string) bool {
	return slices.ContainsFunc(strings.Split(parents, ", "), func(p string) bool { return within(path, p) })
}

// ruleOf returns the rule that applies to a package.
func ruleOf(t *testing.T, path string) importRule {
	t.Helper()
	var best *importRule
	for i, r := range rules {
		if r.path == "" && path != "" { // the rule of main
			continue
		}
		if within(path, r.path) && (best == nil || len(r.path) > len(best.path)) {
			best = &rules[i]
		}
	}
	require.NotNil(t, best, "no rule applies to %q: add to rules what it may import", path)
	return *best
}

func checkRestricted(t *testing.T, from, imported string) {
	t.Helper()
	for _, r := range restricted {
		if imported != r.path && !strings.HasPrefix(imported, r.path+"/") {
			continue
		}
		if r.only == "*test" && strings.HasSuffix(from, "test") || r.only != "" && withinAny(from, r.only) || within(from, "internal") {
			continue
		}
		t.Errorf("%s/%s imports %s: %s", module, from, imported, r.reason)
	}
}

// list asks go for every package of the module, as built and as tested.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-test", "-json=ImportPath,ForTest,Standard,Imports", "./...")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		require.NoError(t, err)
		if !p.Standard {
			pkgs = append(pkgs, p)
		}
	}
}
