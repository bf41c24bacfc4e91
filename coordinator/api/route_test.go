package api

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

func TestAParameterIsReadByItsKindAndRange(t *testing.T) {
	t.Parallel()
	number := param{name: "n", kind: numberParam, max: 9}
	texts := func(all ...string) []string { return all }
	for name, c := range map[string]struct {
		p     param
		texts []string
		want  any // nil: it is refused
	}{
		"text":                        {param{}, texts("a b"), "a b"},
		"empty text":                  {param{}, texts(""), ""},
		"no text":                     {param{}, nil, ""},
		"no text, with a default":     {param{absent: "x"}, nil, "x"},
		"text, with a default":        {param{absent: "x"}, texts("y"), "y"},
		"two texts":                   {param{}, texts("a", "b"), nil},
		"no text that is required":    {param{required: true}, nil, nil},
		"a number":                    {number, texts("9"), 9},
		"zero":                        {number, texts("0"), 0},
		"no number":                   {number, nil, 0},
		"an empty number":             {number, texts(""), nil},
		"a larger number":             {number, texts("10"), nil},
		"a negative number":           {number, texts("-1"), nil},
		"text for a number":           {number, texts("x"), nil},
		"the default of a number":     {param{kind: numberParam, absent: 5, max: 9}, nil, 5},
		"empty, and not the default":  {param{kind: numberParam, absent: 5, max: 9}, texts(""), nil},
		"true":                        {param{kind: flagParam}, texts("true"), true},
		"no flag":                     {param{kind: flagParam}, nil, false},
		"the default of a flag":       {param{kind: flagParam, absent: true}, nil, true},
		"an empty flag":               {param{kind: flagParam}, texts(""), nil},
		"a flag of text":              {param{kind: flagParam}, texts("maybe"), nil},
		"an id":                       {param{kind: idParam}, texts("a-1"), "a-1"},
		"no id":                       {param{kind: idParam}, nil, ""},
		"an empty id":                 {param{kind: idParam}, texts(""), nil},
		"an id with a space":          {param{kind: idParam}, texts("a b"), nil},
		"text with a space in a path": {param{kind: textParam, in: "path"}, texts("a b"), "a b"},
	} {
		got, err := c.p.read(c.texts)
		require.Equal(t, c.want, got, name)
		if c.want == nil {
			require.ErrorIs(t, err, fault.ErrInvalid, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}

func TestARequestHasDeclaredParametersOnlyAndEachOnce(t *testing.T) {
	t.Parallel()
	rt := route{path: "/x", statuses: []int{202, 200}, params: []param{{name: "id", in: "path", kind: idParam}, {name: "X-Key", in: "header"}, {name: "a"}, {name: "n", kind: numberParam, max: 9}}}
	parse := func(query string) (*request, error) {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/x?"+query, nil)
		r.SetPathValue("id", "o1")
		r.Header.Set("X-Key", "k")
		return rt.newRequest(r)
	}
	q, err := parse("a=1&n=2")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": "o1", "X-Key": "k", "a": "1", "n": 2}, q.values)
	require.Equal(t, 202, q.status)
	require.Empty(t, q.key, "the route takes none")
	for query, says := range map[string]string{
		"a=1&a=2": "parameter a is given 2 times", "b=1": `unknown parameter "b" of /x; use a or n`, "id=o2": "unknown parameter", "X-Key=1": "unknown parameter", "n=x": "want a whole number", "%zz": "query",
	} {
		_, err := parse(query)
		require.ErrorIs(t, err, fault.ErrInvalid, query)
		require.ErrorContains(t, err, says, query)
	}
	require.Empty(t, route{params: rt.params[:2]}.listParameters())
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/x", nil)
	r.Header.Set(keyHeader, "k 1")
	_, err = route{path: "/x", statuses: []int{200}, isKeyed: true}.newRequest(r)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestAPageIsAPartOfAListAndEmptyBehindIt(t *testing.T) {
	t.Parallel()
	all := []int{1, 2, 3, 4}
	for _, c := range []struct {
		offset, limit int
		want          []int
	}{{0, 2, []int{1, 2}}, {2, 2, []int{3, 4}}, {3, 9, []int{4}}, {4, 1, []int{}}, {9, 1, []int{}}, {0, 0, []int{}}, {0, 4, all}} {
		q := &request{values: map[string]any{"offset": c.offset, "limit": c.limit}}
		require.Equal(t, types.Page[int]{Items: c.want, Total: 4}, cut(q, all), "%+v", c)
	}
}

func TestADurationOfABodyIsWithinItsRange(t *testing.T) {
	t.Parallel()
	for s, ok := range map[models.Seconds]bool{0: true, 0.5: true, 10: true, 10.001: false, -0.001: false, models.Seconds(math.Inf(1)): false} {
		d, err := seconds("wait", s, 10*time.Second)
		require.Equal(t, ok, err == nil, s)
		if ok {
			require.Equal(t, s.Duration(), d)
		} else {
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, "wait")
		}
	}
	_, err := seconds("wait", models.Seconds(math.NaN()), time.Second)
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func TestABodyIsOneObjectInUTF8(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{`{"path":"/a"}`: true, `{}`: false, `{"path":"` + "\xff" + `"}`: false, `{"other":1}`: false, `{} {}`: false, `[]`: false, "": false} {
		var b types.Backup
		err := decode(&bodyInMemory{strings.NewReader(text), []byte(text)}, &b)
		require.Equal(t, ok, err == nil, text)
		if !ok {
			require.ErrorIs(t, err, fault.ErrInvalid, text)
		}
	}
}

func TestWhichPathsAreOfManagersAndWhichParametersAreText(t *testing.T) {
	t.Parallel()
	managers, text := 0, map[string]bool{}
	for _, r := range newServer(Config{}).routes() {
		if r.isForManagers() {
			managers++
			require.Regexp(t, "^/api/v1/(catalog|index)/", r.path)
		}
		for _, p := range r.params {
			if p.in == "path" && p.kind == textParam {
				text[p.name] = true
			}
		}
	}
	require.Equal(t, 15, managers)
	require.Equal(t, map[string]bool{"space": true, "session": true, "limit": true}, text)
}
