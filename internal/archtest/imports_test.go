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

// concrete are the implementations that tests of protocols run on.
var concrete = []string{"shared/space", "shared/catalog"}

var rules = []importRule{
	{"", []string{"cmd"}, nil, "main only starts cmd"},
	{"cmd", []string{"node", "coordinator", "manager", "worker", "shared", "models", "tup4fun"}, []string{"internal/binary"}, "cmd parses and prints, and only main imports it"},
	{"clients", nil, []string{"internal/binary", "shared/api/client", "shared/api/types"}, "clients of other languages are tested from outside"},
	{"node", []string{"coordinator", "manager", "worker", "shared", "models"}, nil, "node assembles processes of several modes, because modes do not import each other and commands only parse and print"},
	{"coordinator", []string{"shared", "models"}, nil, "the modes never import each other: they exchange tuples"},
	{"shared/protocol/visit/policy", []string{"shared/catalog/sqlfile", "shared/fault", "shared/api/strictjson", "models"}, []string{"coordinator/database", "shared/catalog/sqlite", "shared/process/platform"}, "the policy of visits is arithmetic and one database file; the coordinator uses it"},
	{"manager", []string{"shared", "models"}, nil, "the modes never import each other: they exchange tuples"},
	{"worker", []string{"shared", "models"}, nil, "the modes never import each other: they exchange tuples"},
	{"models", nil, nil, "the vocabulary imports nothing of ours"},
	{"shared", []string{"shared", "models"}, nil, "shared is below the modes"},
	{"shared/process/failpoint", nil, nil, "failpoints are set by the package that has them"},
	{"shared/fault", nil, nil, "the kinds of error import nothing of ours"},
	{"shared/tuple", nil, nil, "programs use tuples without the rest"},
	{"shared/space/trace", []string{"shared/tuple"}, nil, "a trace is read without the engine that wrote it"},
	{"shared/process/retry", []string{"shared/fault"}, nil, "callers decide which calls are repeated"},
	{"shared/process/platform", nil, nil, "every package may use what differs between systems"},
	{"shared/process/build", nil, nil, "every package may use the version"},
	{"shared/space", []string{"shared/tuple", "shared/space/trace", "shared/fault", "shared/process/failpoint", "shared/process/retry", "shared/space/memory", "shared/process/build", "shared/process/histogram", "shared/process/platform"}, nil, "spaces do not depend on their uses"},
	{"shared/space/journal/pebble", []string{"shared/space", "shared/tuple", "shared/fault", "shared/process/failpoint", "shared/space/journal/pairing", "shared/process/platform"}, nil, "the store does not depend on what facts mean"},
	{"shared/process/histogram", nil, nil, "a histogram does not depend on what it measures"},
	{"shared/protocol/status", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/protocol/lease", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/protocol/task", protocol, append([]string{"leaseholdtest"}, concrete...), "a protocol is procedures on spaces"},
	{"shared/protocol/work", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/protocol/schedule", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/protocol/work/worktest", []string{"shared", "models"}, nil, "the protocols' scenarios need an engine to run on"},
	{"shared/protocol/visit", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/space/browse", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/space/transaction", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/space/transaction/transactiontest", []string{"shared"}, nil, "one suite tests every connection to an engine"},
	{"shared/protocol/idempotency", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/protocol/interop", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/process/supervisor", nil, nil, "a supervisor does not depend on what its goroutines do"},
	{"shared/catalog/sqlfile", []string{"shared/fault", "shared/process/platform"}, nil, "a database file does not depend on its tables"},
	{"shared/catalog", []string{"shared/fault", "shared/process/retry", "shared/process/wording", "models"}, nil, "the catalog does not depend on spaces"},
	{"shared/catalog/sqlite", []string{"shared/catalog!", "shared/catalog/sqlfile", "shared/fault", "shared/process/wording", "models"}, []string{"shared/catalog/catalogtest"}, "the catalog does not depend on spaces"},
	{"shared/api/catalog", []string{"shared/catalog!", "shared/api/client", "shared/api/types", "shared/fault", "models"}, nil, "a remote catalog uses only the API"},
	{"shared/space/journal/pairing", []string{"shared/fault", "shared/process/failpoint"}, nil, "a pairing does not depend on what the two stores contain"},
	{"node/backup", []string{"shared/fault", "shared/process/failpoint"}, nil, "a backup copies files and does not read them"},
	{"shared/api/types", []string{"shared/catalog!", "models"}, nil, "documents of the API are data, and import only what they contain"},
	{"shared/api/client", []string{"shared/api/types", "shared/catalog!", "shared/fault", "models"}, nil, "a client of the API does not need the coordinator"},
	{"shared/clips", []string{"shared/fault", "shared/process/platform"}, nil, "audio is a library of its own"},
	{"shared/api/code", []string{"shared/code", "shared/api/client", "shared/api/types", "shared/fault"}, nil, "a remote index uses only the API"},
	{"shared/code/elastic", []string{"shared/code", "shared/fault", "shared/process/retry"}, nil, "an index on a server does not depend on the flow that fills it"},
	{"shared/protocol/batch", protocol, concrete, "a protocol is procedures on spaces"},
	{"shared/code", []string{"shared/fault", "shared/process/failpoint", "shared/process/platform"}, nil, "an index does not depend on the flow that fills it"},
	{"shared/fetch", []string{"shared/fault", "models", "shared/process/platform"}, nil, "fetch is a library of its own"},
	{"shared/code/gitrepo", []string{"shared/fault", "models", "shared/process/platform", "shared/process/wording"}, nil, "a mirror does not depend on how its files are indexed"},
	{"shared/space/memory", []string{"shared/fault"}, nil, "a budget does not depend on what the bytes are for"},
	{"shared/config", []string{"shared/fault", "shared/space/memory", "shared/process/wording", "models"}, nil, "settings are plain values; cmd gives them to their users"},
	{"tup4fun", []string{"shared/tuple", "shared/space/trace", "shared/process/wording"}, nil, "models are checked against traces, not against code"},
	{"leaseholdtest", []string{"shared/space", "shared/protocol/task", "shared/protocol/lease", "shared/protocol/status", "shared/space/browse"}, []string{"worker", "models", "shared/fault"}, "a coordinator for tests of users has the protocols of tasks, and no mode"},
	{"gospace", []string{"spaces", "shared/space", "shared/tuple", "shared/fault", "shared/protocol/interop", "shared/space/browse", "shared/space/transaction", "coordinator/gate/gospace/gob"}, []string{"coordinator/gate/native"}, "a library for programs hosts and joins spaces, and needs no mode"},
	{"spaces", []string{"shared/space", "shared/tuple", "shared/space/trace", "shared/fault", "shared/protocol/interop", "shared/space/browse", "shared/space/transaction", "shared/process/datadir", "coordinator/gate"}, nil, "a library for programs hosts spaces and opens gates, and needs no mode"},
	{"examples", []string{"shared", "models", "spaces", "gospace"}, []string{"tup4fun", "internal/binary"}, "examples are read by users, and their models are checked"},
	{"internal", []string{"shared/process/platform"}, []string{all}, "tools depend on no other package than that of processes; their tests may"},
}

// protocol are the imports of a protocol: the interfaces of a space (not an
// engine), tuples, errors, the vocabulary, and the other protocols.
var protocol = []string{"shared/space!", "shared/tuple", "shared/fault", "shared/process/retry", "shared/process/wording", "models",
	"shared/protocol/status", "shared/protocol/lease", "shared/protocol/task", "shared/protocol/work", "shared/protocol/visit", "shared/space/browse", "shared/protocol/interop", "shared/protocol/schedule"}

// restricted are modules and packages that only the packages below some paths may import. Tests
// may import them all.
var restricted = []struct{ path, only, reason string }{
	{"github.com/spf13/viper", "shared/config", "viper is used in one place"},
	{"github.com/prometheus/client_golang", "coordinator/api", "packages count in plain numbers, which one place exports as metrics"},
	{"github.com/spf13/cobra", "cmd", "only cmd depends on the command line"},
	{"modernc.org/sqlite", "shared/catalog/sqlfile", "one package opens database files"},
	{module + "/shared/catalog/sqlfile", "shared/catalog/sqlite, coordinator/visits, coordinator/database", "a worker does not link the database"},
	{"github.com/cockroachdb/pebble", "shared/space/journal/pebble", "a worker does not link the journal's store"},
	{module + "/shared/space/journal/pebble", "cmd, node, spaces", "a worker does not link the journal's store"},
	{"github.com/mmcdole/gofeed", "manager/clips", "only the archive reads feeds"},
	{"github.com/mewkiz/flac", "shared/clips", "only audio reads formats of sound"},
	{"github.com/hajimehoshi/go-mp3", "shared/clips", "only audio reads formats of sound"},
	{"github.com/go-audio", "shared/clips", "only audio reads formats of sound"},
	{"golang.org/x/image", "shared/clips", "only audio draws pictures of sound"},
	{"gonum.org/v1/gonum", "shared/clips", "only audio uses its arithmetic"},
	{"github.com/kballard/go-shellquote", "shared/config", "one place splits commands"},
	{"github.com/robfig/cron", "shared/protocol/schedule", "one place parses cron expressions"},
	{"github.com/go-enry/go-enry", "shared/code/analyse", "one place names languages"},
	{"github.com/tidwall/btree", "shared/space/engine", "only the engine's index uses ordered sets"},
	{"github.com/RoaringBitmap/roaring", "shared/catalog", "only a catalog stores researched pairs as compressed sets"},
	{"github.com/klauspost/compress", "shared/code/segment", "only segments compress text"},
	{"github.com/go-git", "shared/code/gitrepo", "one package copies repositories"},
	{"os/exec", "shared/clips, shared/code/gitrepo, shared/code/analyse, shared/process/platform, worker/exec, coordinator/alert", "only ffmpeg, git, ctags, commands of the user and the operator, and the programs that make the benchmark's sets are started"},
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
		{"cmd", "worker/clips", false, true},
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
