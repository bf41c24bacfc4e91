package conform_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

func TestAnErrorInAMapIsReportedWithItsPosition(t *testing.T) {
	t.Parallel()
	for source, says := range map[string]string{
		"on put lease":                    "m.map:1:13: expected -> and the actions of the model, found the end of the file",
		"on shove lease -> S.put(1)":      "m.map:1:4: expected an operation of the log (ack, any, back, begin, done, end, expire, get, getall, getp, getupto, hide, hold, put, putp, query, queryall, queryp, queryupto, replace, restore, take), found shove",
		"ignore put s":                    "m.map:1:13: expected ; after the item at 1:1, found the end of the file",
		"const N = x;":                    "m.map:1:11: expected a number, found x",
		"const N = 99999999999999999999;": "m.map:1:11: expected a number of at most 64 bits, found 99999999999999999999",
		"on put s (a,) -> S.put(1);":      `m.map:1:13: expected _, a name, "text" or a number, found )`,
		"on put s by W(1) -> S.put(1);":   "m.map:1:15: expected the variable with the number of the copy (process: that of the session) or nobody (no session), found 1",
		"on put s from (x) -> S.put(1);":  "m.map:1:15: expected the role of a session, as worker, found (",
		"on put s from w() -> S.put(1);":  "m.map:1:17: expected a variable for what follows w- in the session's name, found )",
		"on put s (\"a) -> S.put(1);":     `m.map:1:11: expected _, a name, "text" or a number, found a string without " at its end on the line, or with \ in it`,
		"on put s -> S.push(1);":          "m.map:1:15: expected put, get or query, found push",
		"instance ;\nnumber 1;":           "m.map:1:10: expected a variable whose values name an instance, found ;\nm.map:2:8: expected a variable whose values are numbered, found 1",
		"on put s in -> S.put(1);":        "m.map:1:13: expected a procedure, as work.issue, or none, found ->",
		"same ;":                          "m.map:1:6: expected a variable that keeps its value in an instance, found ;",
		"unique s;":                       "m.map:1:9: expected ( and the fields, found ;",
		"ends 1;":                         "m.map:1:6: expected a space of the model that is empty in the end, found 1",
		"forget 1;":                       "m.map:1:8: expected a space of the model that is empty when an instance has ended, found 1",
		"é":                               "m.map:1:1: expected const, let, restart, earlier, instance, number, same, unique, lasts, after, ends, forget, ignore, never or on, found 'é', which is not a token of a map",
	} {
		_, err := conform.ParseMap("m.map", source)
		require.EqualError(t, err, says, source)
	}
	_, err := conform.ParseMap("m.map", string(make([]byte, conform.MaxMap+1)))
	require.ErrorContains(t, err, "at most 1048576 are read")
}

func TestAMapThatDoesNotFitItsModelIsRefused(t *testing.T) {
	t.Parallel()
	model := compiled(t, "m.tup", "S = (R, 1, {})\n---\nproc P = S.put(1)", nil)
	for source, says := range map[string]string{
		"on put s -> T.put(1);":                  "m.map:1:13: m.tup has no space T",
		"on put s by Q -> S.put(1);":             "m.map:1:1: m.tup has no process Q",
		"on put s by P(n) -> S.put(1);":          "m.map:1:1: n is not a variable of the event, so the copy of P is unknown",
		"on put s -> S.put(x);":                  "m.map:1:19: x is neither a variable of the event nor a constant or symbol of m.tup",
		"instance l; on put s (k) -> S.put(k);":  "m.map:1:13: the rule does not name an instance: it binds none of [l]",
		"const N = 1;":                           "m.map:1:1: m.tup has no constant N",
		"const B = 1; const A = 1; const C = 1;": "m.map:1:1: m.tup has no constant A\nm.map:1:1: m.tup has no constant B\nm.map:1:1: m.tup has no constant C",
	} {
		m, err := conform.ParseMap("m.map", source)
		require.NoError(t, err, source)
		_, err = conform.New(model, m, conform.Options{})
		require.EqualError(t, err, says, source)
	}
}

func compiled(t testing.TB, file, source string, constants map[string]int64) *explore.Model {
	t.Helper()
	p, err := syntax.ParseWith(file, source, constants)
	require.NoError(t, err)
	m, err := explore.Compile(p, 0)
	require.NoError(t, err)
	return m
}

func FuzzParseMap(f *testing.F) {
	maps, _ := filepath.Glob("models/*.map")
	for _, path := range maps {
		source, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(source))
	}
	f.Add("on put s (a, \"b\", -1, true, _) to (a) = ok|due in x.y|none by P(process) -> S.get(a), S.put(1);")
	f.Add("on get s (a) from worker(i) by P(i) -> S.get(a);")
	f.Add("never any visible s; number a = b, c; const N = 3; // x")
	model := compiled(f, "m.tup", "const N = 1, S = (R, INF, {})\n---\nproc P = S.put(1)", nil)
	f.Fuzz(func(t *testing.T, source string) {
		m, err := conform.ParseMap("m.map", source)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		_, _ = conform.New(model, m, conform.Options{}) // must not panic
	})
}
