package strictjson_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/strictjson"
)

// Options has an upper-case name in paths.
type Options struct {
	Tags  []string `json:"tags"`
	Count int32    `json:"count"`
	Ratio *float64 `json:"ratio"`
}

type inner struct {
	Name  string   `json:"name"`
	Again *request `json:"again"`
}

type request struct {
	Options
	Inner  inner     `json:"inner"`
	Many   []inner   `json:"many"`
	Done   bool      `json:"done"`
	At     time.Time `json:"at"`
	Size   uint16    `json:"size"`
	hidden int
}

func TestErrorsNameTheFieldAndWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"tags":["x"],"ratio":0.5,"inner":{"name":"a"},"at":"2026-11-23T08:00:00Z"}`: "",
		`{}`:                            "",
		``:                              "want an object, got nothing",
		`[]`:                            "want an object, got array",
		`{} {}`:                         "want an object, got more behind it",
		`{} x`:                          "want an object, got more behind it",
		`{} 1e999`:                      "want an object, got more behind it",
		`{"tags"`:                       "the JSON breaks off",
		`{"tags":,}`:                    "not JSON at byte 9: invalid character ',' looking for beginning of value",
		`{"tags":"x"}`:                  "tags: want a list, got string",
		`{"count":"many"}`:              "count: want a whole number of 32 bits, got string",
		`{"count":1.5}`:                 "count: want a whole number of 32 bits, got number 1.5",
		`{"size":-1}`:                   "size: want a whole number of 16 bits, not negative, got number -1",
		`{"ratio":true}`:                "ratio: want a number, got bool",
		`{"inner":{"name":5}}`:          "inner.name: want a string, got number",
		`{"inner":5}`:                   "inner: want an object, got number",
		`{"done":1}`:                    "done: want true or false, got number",
		`{"at":"tomorrow"}`:             `want a time such as 2026-11-23T08:00:00Z, got "tomorrow"`,
		`{"at":5}`:                      `want a time in quotes, such as "2026-11-23T08:00:00Z"`,
		`{"tgas":[]}`:                   `unknown field "tgas" (did you mean tags?)`,
		`{"many":[{"nmae":"x"}]}`:       `unknown field "nmae" (did you mean name?)`,
		`{"hidden":1}`:                  `unknown field "hidden"; the fields are at, count, done, inner, many, ratio, size, tags`,
		`{"` + strings.Repeat("x", 200): "the JSON breaks off",
	} {
		var r request
		err := strictjson.Decode(strings.NewReader(text), &r)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, text)
	}
	_ = request{hidden: 1}
}

func TestAnErrorOfTheReaderIsReturned(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line is cut")
	var r request
	require.ErrorIs(t, strictjson.Decode(iotest.ErrReader(broken), &r), broken)
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"tags":["x"],"inner":{"name":5}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r request
		if err := strictjson.Decode(strings.NewReader(text), &r); err != nil && !strings.Contains(text, "Go ") && !strings.Contains(text, "json: ") {
			require.NotContains(t, err.Error(), "Go ")
			require.NotContains(t, err.Error(), "json: ")
		}
	})
}
