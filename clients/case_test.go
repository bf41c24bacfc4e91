package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A conformanceCase has the commands for the driver of a client, the events meanwhile, and the expected answers. The
// files in testdata/cases have them, and a README.md there describes the format.
type conformanceCase struct {
	Name  string
	Auth  bool              // with a coordinator that authenticates
	Clock bool              // in a process whose clock the case sets
	Not   map[string]string // why clients are left out, by name
	Steps []step
}

// A step has one of the fields up to Sweep. Those after them tell more.
type step struct {
	Do          string         // a verb of the driver
	Answer      bool           // the answer of the verb with later
	Event       string         // that a handler prints, about the task With
	Create      map[string]any // tasks that the test creates: data, and n if there are several
	Cancel      string         // the test cancels a task
	Await       string         // the task that looks like Want soon
	Count       map[string]any // a filter of tasks; Want is their number soon
	Sessions    string         // drain or end: the test does that with the session of the worker
	Network     []*disturbance // from now on
	Quiet       bool           // nothing is disturbed any more
	Coordinator string         // kill or start
	Signal      string         // term
	Ended       bool           // the worker has returned, or its process has ended
	Clock       string         // of the driver: +3600 is an hour later
	Pause       float64        // seconds
	Roles       string         // what the coordinators of the pair do
	Refused     *int           // so many requests came to the one that stands by
	Strayed     *int           // so many requests came to another server than the two
	Once        string         // a list of tasks that a worker started and ended once each
	Sweep       *sweep

	With  map[string]any
	Want  any
	In    map[string]any // Want of a client, by name
	Fails *failure
	Later bool   // the answer comes in a later step
	Save  string // the name of the answer
	Soon  bool   // the verb is repeated until the answer is as wanted
	// Within bounds a step that a worker would do later by itself, in seconds.
	Within float64
	Not    map[string]string // why clients leave the step out, by name
	Only   []string          // clients
}

// within is how long the step may take.
func (s step) within() time.Duration {
	if s.Within > 0 {
		return seconds(s.Within)
	}
	return limit
}

// works reports whether a case has a worker.
func (c conformanceCase) works() bool {
	return slices.ContainsFunc(c.Steps, func(s step) bool { return s.Do == "work" })
}

// A sweep repeats steps, and has a connection cut after 0, 1, 2 … bytes until one was not. n is the number.
type sweep struct {
	Of    string
	Steps []step
}

// failure is the error that a verb must end with.
type failure struct {
	Kind     string
	Status   *int
	Text     any
	Happened string // "no" or unknown: whether the request had an effect
}

// readCases returns the cases of all files, with unique names.
func readCases(t *testing.T) (all []conformanceCase) {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		var cases []conformanceCase
		require.NoError(t, decoder.Decode(&cases), file)
		all = append(all, cases...)
	}
	require.NotEmpty(t, all)
	names := map[string]bool{}
	for _, c := range all {
		require.False(t, names[c.Name], "two cases: %s", c.Name)
		names[c.Name] = true
	}
	return all
}

// variables are answers by name, and values that the test gives a case.
type variables map[string]any

var reference = regexp.MustCompile(`\$\{([^}]*)\}`)

// fill replaces ${name} and ${name.field.0} in a value, and the objects {$repeat: [x, n]} and {$number: "1"}.
func (v variables) fill(value any) any {
	switch value := value.(type) {
	case string:
		if all := reference.FindString(value); all == value && all != "" {
			return v.at(all[2 : len(all)-1])
		}
		return reference.ReplaceAllStringFunc(value, func(r string) string { return fmt.Sprint(v.at(r[2 : len(r)-1])) })
	case []any:
		filled := make([]any, len(value))
		for i := range value {
			filled[i] = v.fill(value[i])
		}
		return filled
	case map[string]any:
		if r, ok := value["$repeat"].([]any); ok {
			return repeated(v.fill(r[0]), r[1].(int))
		}
		if n, ok := value["$number"].(string); ok {
			return json.Number(n)
		}
		filled := map[string]any{}
		for name := range value {
			filled[v.fill(name).(string)] = v.fill(value[name])
		}
		return filled
	}
	return value
}

// repeated is a text n times, or a list of n values.
func repeated(value any, n int) any {
	if text, ok := value.(string); ok {
		return strings.Repeat(text, n)
	}
	return slices.Repeat([]any{value}, n)
}

func (v variables) at(path string) any {
	names := strings.Split(path, ".")
	value, ok := v[names[0]]
	if !ok {
		panic("no variable " + path)
	}
	for _, name := range names[1:] {
		if list, ok := value.([]any); ok {
			var n int
			if _, err := fmt.Sscan(name, &n); err != nil || n >= len(list) {
				panic(fmt.Sprintf("%s: %s of %d", path, name, len(list)))
			}
			value = list[n]
		} else {
			value = value.(map[string]any)[name]
		}
	}
	return value
}

// plain is a value as JSON has it, with exact numbers.
func plain(value any) (read any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return parse(text)
}

func parse(text []byte) (read any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		panic(fmt.Sprintf("%v: %.300s", err, text))
	}
	return read
}

// differs returns the first difference of a value from the expected one, empty if there is none. An object may have
// more fields than expected; the expected objects {$has: text}, {$length: n}, {$sorted: true}, {$oneof: […]} and {$some: true} stand for more.
func differs(want, got any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		if matcher, of := matcherOf(want); matcher != nil {
			if matcher(of, got) {
				return ""
			}
			break
		}
		fields, ok := got.(map[string]any)
		if !ok {
			break
		}
		for name, w := range want {
			if d := differs(w, fields[name], at+"."+name); d != "" {
				return d
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			break
		}
		for i := range want {
			if d := differs(want[i], list[i], fmt.Sprint(at, ".", i)); d != "" {
				return d
			}
		}
		return ""
	case json.Number:
		w, _ := new(big.Rat).SetString(want.String())
		if n, ok := got.(json.Number); ok {
			if g, ok := new(big.Rat).SetString(n.String()); ok && w.Cmp(g) == 0 {
				return ""
			}
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s: want %s, got %s", at, short(want), short(got))
}

func matcherOf(want map[string]any) (matches func(of, got any) bool, of any) {
	for name, matches := range map[string]func(of, got any) bool{
		"$has":    func(of, got any) bool { s, ok := got.(string); return ok && strings.Contains(s, of.(string)) },
		"$length": func(of, got any) bool { return differs(of, json.Number(fmt.Sprint(length(got))), "") == "" },
		"$oneof": func(of, got any) bool {
			return slices.ContainsFunc(of.([]any), func(w any) bool { return differs(w, got, "") == "" })
		},
		"$some": func(_, got any) bool { return got != nil },
		"$names": func(of, got any) bool { // a list of actions that is sorted and has one
			var names []string
			for _, item := range got.([]any) {
				names = append(names, item.(map[string]any)["action"].(string))
			}
			return sort.StringsAreSorted(names) && slices.Contains(names, of.(string))
		},
		"$set": func(of, got any) bool { // in any order
			left, ok := got.([]any)
			left = slices.Clone(left)
			for _, w := range of.([]any) {
				i := slices.IndexFunc(left, func(g any) bool { return differs(w, g, "") == "" })
				if i < 0 {
					return false
				}
				left = slices.Delete(left, i, i+1)
			}
			return ok && len(left) == 0
		},
	} {
		if of, ok := want[name]; ok {
			return matches, of
		}
	}
	return nil, nil
}

func length(of any) int {
	switch of := of.(type) {
	case string:
		return len([]rune(of))
	case []any:
		return len(of)
	}
	return -1
}

func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.600s", text)
}
