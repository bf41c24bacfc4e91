package strictjson_test

import (
	"encoding/json"
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
		`{}`:               "",
		``:                 "want an object, got nothing",
		`[]`:               "want an object, got array",
		`{} {}`:            "want an object, got more behind it",
		`{} x`:             "want an object, got more behind it",
		`{} 1e999`:         "want an object, got more behind it",
		`{"tags"`:          "the JSON breaks off",
		`{"tags":,}`:       "not JSON at byte 9: invalid character ',' looking for beginning of value",
		`{"tags":"x"}`:     "tags: want a list, got string",
		`{"count":"many"}`: "count: want a whole number of 32 bits, got string",
		`{"count":1.5}`:    "count: want a whole number of 32 bits, got number 1.5",
		`{"count":68.0,"size":1e3,"many":[{"name":"1.0"}]}`: "",
		`{"count":-0.0,"ratio":1.0}`:                        "",
		`{"count":1e99}`:                                    "count: want a whole number of 32 bits, got number 1e99",
		`{"size":-1}`:                                       "size: want a whole number of 16 bits, not negative, got number -1",
		`{"ratio":true}`:                                    "ratio: want a number, got bool",
		`{"inner":{"name":5}}`:                              "inner.name: want a string, got number",
		`{"inner":5}`:                                       "inner: want an object, got number",
		`{"done":1}`:                                        "done: want true or false, got number",
		`{"at":"tomorrow"}`:                                 `want a time such as 2026-11-23T08:00:00Z, got "tomorrow"`,
		`{"at":5}`:                                          `want a time in quotes, such as "2026-11-23T08:00:00Z"`,
		`{"tgas":[]}`:                                       `unknown field "tgas" (did you mean tags?)`,
		`{"many":[{"nmae":"x"}]}`:                           `unknown field "nmae" (did you mean name?)`,
		`{"hidden":1}`:                                      `unknown field "hidden"; the fields are at, count, done, inner, many, ratio, size, tags`,
		`{"` + strings.Repeat("x", 200):                     "the JSON breaks off",
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

func TestWholeNumbersHaveAnyFormOfJSON(t *testing.T) {
	t.Parallel()
	var r request
	var kept struct {
		Data   json.RawMessage `json:"data"`
		Number int64           `json:"number"`
	}
	require.NoError(t, strictjson.Decode(strings.NewReader(`{"count": 68.0, "many": [], "size":1E3 }`), &r))
	require.EqualValues(t, 68, r.Count)
	require.EqualValues(t, 1000, r.Size)
	require.NoError(t, strictjson.Decode(strings.NewReader(`{"data": {"number": 1.0}, "number": 9007199254740993.0}`), &kept))
	require.EqualValues(t, 9007199254740993, kept.Number)
	require.JSONEq(t, `{"number": 1.0}`, string(kept.Data))
	require.Contains(t, string(kept.Data), "1.0", "data is passed on as it came")
}

// described is a body whose field count is required.
type described struct {
	Count  int64                `json:"count"`
	Names  []string             `json:"names"`
	Note   string               `json:"note,omitempty"`
	At     time.Time            `json:"at,omitzero"`
	Data   json.RawMessage      `json:"data,omitempty"`
	Inner  []described          `json:"inner,omitempty"`
	Number *int64               `json:"number,omitempty"`
	Others map[string]described `json:"others,omitempty"`
	Bytes  []byte               `json:"bytes,omitempty"`
	Set    *int64               `json:"set"`
}

func TestADescribedValueHasItsRequiredFieldsAndNoOtherNull(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"count":1,"set":1,"names":[]}`: "",
		`{"count":1,"set":1,"names":[],"others":{"a":{"count":2,"set":1,"names":null}}}`:           "",
		`{"count":1,"set":1,"names":[],"others":{"a":null}}`:                                       "others: want an object, got null; leave it out",
		`{"count":1,"set":null,"names":[]}`:                                                        "set: want a whole number of 64 bits, got null",
		`{"count":1,"set":1,"names":null,"data":null,"inner":[{"names":["a"],"count":2,"set":1}]}`: "",
		`{"names":[]}`:                       "count: want a whole number of 64 bits, got nothing",
		`{}`:                                 "count: want a whole number of 64 bits, got nothing",
		`{"cuont":1}`:                        `unknown field "cuont" (did you mean count?)`,
		`{"count":null,"set":1,"names":[]}`:  "count: want a whole number of 64 bits, got null",
		`{"count":1,"set":1,"names":[null]}`: "names: want a string, got null; leave it out",
		`{"count":1,"set":1,"names":[],"note":null}`:                                                   "note: want a string, got null; leave it out",
		`{"count":1,"set":1,"names":[],"at":null}`:                                                     "at: want a time, got null; leave it out",
		`{"count":1,"set":1,"names":[],"number": null}`:                                                "number: want a whole number of 64 bits, got null; leave it out",
		`{"count":1,"set":1,"names":[],"inner":[{"count":1,"set":1,"names":[]}, {"count":1,"set":1}]}`: "inner.names: want a list, got nothing",
		`{"count":1,"set":1,"names":[],"bytes":[1]}`:                                                   "bytes: want bytes in base64, got array",
		`{"count":1,"set":1,"names":[],"bytes":"eA=="}`:                                                "",
		`null`: "want an object, got null",
	} {
		var d described
		err := strictjson.DecodeDescribed(strings.NewReader(text), &d)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, text)
	}
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
