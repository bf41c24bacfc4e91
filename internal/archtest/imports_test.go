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

// A room may import, of ours, itself and what is below it, and what it lists.
// The longest room that holds a package decides. A name that ends in ! is that
// package only, and not what is below it.
type room struct {
	name   string
	may    []string
	tests  []string // its tests may also import these
	reason string
}

// all stands for every package of ours.
const all = ""

// concrete is what the tests of a room need of the drivers to have something to
// run on.
var concrete = []string{"shared/space", "shared/catalog"}

var rooms = []room{
	{"", []string{"cmd"}, nil, "main hands over to cmd"},
	{"cmd", []string{"node", "coordinator", "manager", "worker", "shared", "models", "tup4fun"}, []string{"internal/binary"}, "cmd parses and prints, and only main imports it"},
	{"clients", nil, []string{"internal/binary", "shared/apiclient", "shared/apitypes"}, "clients of other languages are tested from outside"},
	{"node", []string{"coordinator", "manager", "worker", "shared", "models"}, nil, "node assembles processes of several modes, so that no mode imports another and commands only parse and print"},
	{"coordinator", []string{"shared", "models"}, nil, "the modes never import each other: they meet in spaces"},
	{"coordinator/visit", []string{"shared/sqlfile", "shared/fault", "models"}, []string{"coordinator/database", "shared/catalog/sqlite"}, "when to look again is arithmetic and one file; what is done with it is the coordinator's"},
	{"manager", []string{"shared", "models"}, nil, "the modes never import each other: they meet in spaces"},
	{"worker", []string{"shared", "models"}, nil, "the modes never import each other: they meet in spaces"},
	{"models", nil, nil, "the vocabulary imports nothing of ours"},
	{"shared", []string{"shared", "models"}, nil, "shared is below the modes"},
	{"shared/failpoint", nil, nil, "where a process may die is said by those who know"},
	{"shared/fault", nil, nil, "the kinds of error import nothing of ours"},
	{"shared/tuple", nil, nil, "a tuple is data, of use without the rest"},
	{"shared/trace", []string{"shared/tuple"}, nil, "a trace is read without the engine that wrote it"},
	{"shared/retry", []string{"shared/fault"}, nil, "which calls are repeated is decided by their callers"},
	{"shared/platform", nil, nil, "what systems do in different ways is the same for every package"},
	{"shared/build", nil, nil, "a version is of use to every package"},
	{"shared/space", []string{"shared/tuple", "shared/trace", "shared/fault", "shared/failpoint", "shared/retry", "shared/memory", "shared/build", "shared/histogram"}, nil, "spaces know nothing of what is done with them"},
	{"shared/space/journal/pebble", []string{"shared/space", "shared/tuple", "shared/fault", "shared/failpoint", "shared/pairing", "shared/platform"}, nil, "a store keeps facts, whatever they are about"},
	{"shared/histogram", nil, nil, "durations are counted, whatever takes them"},
	{"shared/status", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/lease", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/task", protocol, append([]string{"leaseholdtest"}, concrete...), "a protocol is procedures on spaces and nothing else"},
	{"shared/work", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/schedule", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/work/worktest", []string{"shared", "models"}, nil, "the protocols' scenarios need an engine to run on"},
	{"shared/visit", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/browse", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/transaction", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/transaction/transactiontest", []string{"shared"}, nil, "one suite for every way to an engine"},
	{"shared/idempotency", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/interop", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/supervisor", nil, nil, "goroutines are supervised without knowing what they do"},
	{"shared/sqlfile", []string{"shared/fault", "shared/platform"}, nil, "a database file knows nothing of what is in it"},
	{"shared/catalog", []string{"shared/fault", "shared/retry", "models"}, nil, "the catalog knows nothing of spaces"},
	{"shared/catalog/sqlite", []string{"shared/catalog!", "shared/sqlfile", "shared/fault", "models"}, []string{"shared/catalog/catalogtest"}, "the catalog knows nothing of spaces"},
	{"shared/catalog/remote", []string{"shared/catalog!", "shared/apiclient", "shared/apitypes", "shared/fault", "models"}, nil, "a catalog elsewhere is reached over the API, and nothing else"},
	{"shared/pairing", []string{"shared/fault", "shared/failpoint"}, nil, "two stores are kept together, whatever is in them"},
	{"shared/backup", []string{"shared/fault"}, nil, "files are copied, whatever is in them"},
	{"shared/apitypes", []string{"shared/catalog!", "models"}, nil, "the API's documents are data, and import only the documents they contain"},
	{"shared/apiclient", []string{"shared/apitypes", "shared/catalog!", "shared/fault", "models"}, nil, "a client of the API needs nothing of the coordinator"},
	{"shared/audio", []string{"shared/fault", "shared/platform"}, nil, "audio is a library of its own"},
	{"shared/codesearch/remote", []string{"shared/codesearch", "shared/apiclient", "shared/apitypes", "shared/fault"}, nil, "an index elsewhere is reached over the API, and nothing else"},
	{"shared/batch", protocol, concrete, "a protocol is procedures on spaces and nothing else"},
	{"shared/codesearch", []string{"shared/fault", "shared/failpoint", "shared/platform"}, nil, "an index knows blobs and files, and not who indexes them"},
	{"shared/fetch", []string{"shared/fault", "models", "shared/platform"}, nil, "fetch is a library of its own"},
	{"shared/gitrepo", []string{"shared/fault", "models", "shared/platform"}, nil, "mirrors are files, and their content is not interpreted"},
	{"shared/memory", []string{"shared/fault"}, nil, "bytes are counted, whatever they are for"},
	{"shared/config", []string{"shared/fault", "shared/memory", "models"}, nil, "settings are plain values; who uses them is cmd's affair"},
	{"tup4fun", []string{"shared/tuple", "shared/trace"}, nil, "models are checked against traces, not against code"},
	{"leaseholdtest", []string{"shared/space", "shared/task", "shared/lease", "shared/status", "shared/browse"}, []string{"worker", "models", "shared/fault"}, "a coordinator for tests of users has the protocols of tasks, and knows no mode"},
	{"gospace", []string{"shared/space", "shared/tuple", "shared/fault", "shared/interop", "coordinator/gate/native", "coordinator/gate/gospace/gob"}, nil, "a library for programs hosts and joins spaces, and knows no mode"},
	{"spaces", []string{"shared/space", "shared/tuple", "shared/trace", "shared/fault", "shared/interop", "shared/browse", "shared/transaction", "shared/datadir", "coordinator/gate"}, nil, "a library for programs hosts spaces and opens gates, and knows no mode"},
	{"examples", []string{"shared", "models", "spaces", "gospace"}, []string{"tup4fun", "internal/binary"}, "examples are read by users, and their models are checked"},
	{"internal", nil, []string{all}, "tools stand alone; only their tests look at the house"},
}

// protocol is what a protocol is made of: the interfaces of a space (not an
// engine), tuples, errors, the vocabulary, and the other protocols.
var protocol = []string{"shared/space!", "shared/tuple", "shared/fault", "shared/retry", "models",
	"shared/status", "shared/lease", "shared/task", "shared/work", "shared/visit", "shared/browse", "shared/interop", "shared/schedule"}

// A guest is a module or package that only some rooms let in, tests aside.
var guests = []struct{ path, only, reason string }{
	{"github.com/spf13/viper", "shared/config", "viper stays in one place"},
	{"github.com/prometheus/client_golang", "coordinator/api", "metrics are counted as plain numbers, and exposed in one place"},
	{"github.com/spf13/cobra", "cmd", "only cmd knows that there is a command line"},
	{"modernc.org/sqlite", "shared/sqlfile", "what a database file promises is kept in one place"},
	{module + "/shared/sqlfile", "shared/catalog/sqlite, coordinator/visit/store, coordinator/database", "a worker does not link the database"},
	{"github.com/cockroachdb/pebble", "shared/space/journal/pebble", "a worker does not link the journal's store"},
	{module + "/shared/space/journal/pebble", "cmd, node, spaces", "a worker does not link the journal's store"},
	{"github.com/mmcdole/gofeed", "manager/archive", "feeds are the archive's affair"},
	{"github.com/mewkiz/flac", "shared/audio", "formats of sound stay in audio"},
	{"github.com/hajimehoshi/go-mp3", "shared/audio", "formats of sound stay in audio"},
	{"github.com/go-audio", "shared/audio", "formats of sound stay in audio"},
	{"golang.org/x/image", "shared/audio", "pictures of sound stay in audio"},
	{"gonum.org/v1/gonum", "shared/audio", "the arithmetic of sound stays in audio"},
	{"github.com/kballard/go-shellquote", "shared/config", "commands are split where they are read"},
	{"github.com/robfig/cron", "shared/schedule", "cron expressions are read in one place"},
	{"github.com/go-enry/go-enry", "shared/codesearch/analyse", "languages are named in one place"},
	{"github.com/tidwall/btree", "shared/space/engine", "ordered sets are how the engine keeps an index"},
	{"github.com/RoaringBitmap/roaring", "shared/catalog", "compressed sets are how a driver keeps researched pairs"},
	{"github.com/klauspost/compress", "shared/codesearch/segment", "how text is stored is known to segments only"},
	{"os/exec", "shared/audio, shared/gitrepo, shared/codesearch/analyse, shared/platform, worker/exec, coordinator/alert", "no program is started but ffmpeg, git, ctags, commands of the user and the operator, and what makes the benchmark's sets"},
	{"unsafe", "shared/platform", "only a mapped file on Windows needs it"},
	{"testing", "*test", "only suites that tests call may know testing"},
	{"github.com/stretchr/testify", "*test", "only suites that tests call may know testing"},
	{"pgregory.net/rapid", "*test", "only suites that tests call may know testing"},
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

func TestArrowsPointOneWay(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		from, mine := ours(p.path())
		if !mine || strings.HasSuffix(from, ".test") {
			continue
		}
		r := roomOf(t, from)
		for _, imported := range p.Imports {
			imported = plain(imported)
			to, mine := ours(imported)
			if mine && !r.lets(from, to, p.isTest()) {
				t.Errorf("%s imports %s: %s (room %q)", p.path(), imported, r.reason, r.name)
			}
			if !p.isTest() {
				checkGuest(t, from, imported)
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

func TestTheArrowsThemselves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"", "cmd", false, true},
		{"", "shared/config", false, false},
		{"cmd", "worker/research", false, true},
		{"manager", "manager/archive", false, true},
		{"manager/archive", "worker", false, false},
		{"manager/archive", "worker", true, false},
		{"worker", "coordinator", false, false},
		{"shared/lease", "shared/space", false, true},
		{"shared/lease", "shared/space/engine", false, false},
		{"shared/lease", "shared/space/engine", true, true},
		{"shared/lease", "shared/catalog", false, false},
		{"shared/tuple", "shared/fault", false, false},
		{"shared/space/engine", "shared/space/journal", false, true},
		{"shared/space/engine", "models", false, false},
		{"shared/fetch", "cmd", true, false},
		{"models", "shared/fault", false, false},
		{"tup4fun/protocols", "shared/lease", false, false},
	} {
		require.Equal(t, c.ok, roomOf(t, c.from).lets(c.from, c.to, c.test), "%+v", c)
	}
}

func (r room) lets(from, to string, test bool) bool {
	may := r.may
	if test {
		may = slices.Concat(r.may, r.tests)
	}
	if r.name != "" && within(to, r.name) || to == from {
		return true
	}
	return slices.ContainsFunc(may, func(name string) bool {
		if only, exact := strings.CutSuffix(name, "!"); exact {
			return to == only
		}
		return within(to, name)
	})
}

// within reports whether path is the room or below it.
func within(path, room string) bool {
	return room == all || path == room || strings.HasPrefix(path, room+"/")
}

// withinAny is within for rooms separated by commas.
func withinAny(path, rooms string) bool {
	return slices.ContainsFunc(strings.Split(rooms, ", "), func(r string) bool { return within(path, r) })
}

// roomOf returns the longest room that path is within.
func roomOf(t *testing.T, path string) room {
	t.Helper()
	var best *room
	for i, r := range rooms {
		if r.name == "" && path != "" { // main is a room for itself
			continue
		}
		if within(path, r.name) && (best == nil || len(r.name) > len(best.name)) {
			best = &rooms[i]
		}
	}
	require.NotNil(t, best, "no room is planned for %q: say in rooms whom it may import", path)
	return *best
}

func checkGuest(t *testing.T, from, imported string) {
	t.Helper()
	for _, g := range guests {
		if imported != g.path && !strings.HasPrefix(imported, g.path+"/") {
			continue
		}
		if g.only == "*test" && strings.HasSuffix(from, "test") || g.only != "" && withinAny(from, g.only) || within(from, "internal") {
			continue
		}
		t.Errorf("%s/%s imports %s: %s", module, from, imported, g.reason)
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
