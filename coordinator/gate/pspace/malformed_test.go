package pspace_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/tuple"
)

// FaultNN in a name is a row of the catalogue of faults in docs/testing.md.
func TestFault39MalformedMessagesAreAnsweredOnceAndStoreNothing(t *testing.T) {
	t.Parallel()
	put := func(value string) string {
		return `{"messageType":"PUT_REQUEST","target":"space","clientSession":"0","tuple":[{"type":"C","value":` + value + `}]}`
	}
	for name, message := range map[string]string{
		"text":               "hello\n",
		"HTTP":               "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"TLS":                "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"native":             "LSHD\x02\x00\x00\x00\x01",
		"array":              "[1]",
		"mismatched":         `{"messageType":"PUT_REQUEST"]`,
		"two commas":         `{"messageType":"PUT_REQUEST",,"target":"space"}`,
		"nested 10^6 deep":   put(strings.Repeat("[", 1_000_000)),
		"nested 65 deep":     put(strings.Repeat("[", 65) + strings.Repeat("]", 65)),
		"not UTF-8":          put("\"\xff\xfe\""),
		"a raw newline":      put("\"\n\""),
		"NaN":                put("NaN"),
		"Infinity":           put("-Infinity"),
		"a number with 0":    put("01"),
		"an invalid escape":  put(`"\x41"`),
		"half an escape":     put(`"\u12"`),
		"over 4 MiB":         put(`"` + strings.Repeat("x", 5<<20) + `"`),
		"nothing in a value": put(""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			c := f.dial()
			go func() { _, _ = io.WriteString(c, message) }() // the gate may stop reading
			require.Contains(t, c.answer(), `"messageType":"FAILURE","status":false,"statusCode":"400"`)
			_, err := c.r.ReadByte()
			require.Error(t, err, "the connection is closed")
			f.AwaitCount("space", tuple.Match(tuple.Formal{Type: tuple.OpaqueType("C")}), 0)
			require.Zero(t, f.Hub.Panics())
			require.Contains(t, f.dial().call(put("1")), `"status":true`, "others are served")
		})
	}
}

func TestTuplesAndTemplatesPastTheirBoundsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	fields := func(field string, n int) string { return "[" + strings.Repeat(field+",", n-1) + field + "]" }
	const value, formal = `{"type":"pspace:int","value":1}`, `{"formal":true,"value":"pspace:int"}`
	for _, request := range []string{
		`"messageType":"PUT_REQUEST","tuple":` + fields(value, 10_000),
		`"messageType":"PUT_REQUEST","tuple":` + fields(value, tuple.MaxArity+1),
		`"messageType":"GET_REQUEST","blocking":true,"template":` + fields(formal, 10_000),
		`"messageType":"GET_REQUEST","blocking":true,"template":` + fields(formal, tuple.MaxArity+1),
		`"messageType":"GET_REQUEST","template":[{"formal":true,"value":"` + strings.Repeat("C", 2000) + `"}]`,
		`"messageType":"PUT_REQUEST","tuple":[{"type":"pspace:string","value":"` + strings.Repeat("x", tuple.MaxBytes) + `"}]`,
		`"messageType":"PUT_REQUEST","tuple":[` + strings.Repeat(`{"type":"pspace:tuple","value":[`, 9) + strings.Repeat("]}", 9) + `]`,
	} {
		require.Contains(t, c.call(`{"target":"space","clientSession":"7",`+request+`}`), `"status":false,"statusCode":"400","statusMessage":"Bad Request","clientSession":"7"`)
	}
	require.Contains(t, c.call(`{"target":"space","clientSession":"7","messageType":"PUT_REQUEST","tuple":`+fields(value, tuple.MaxArity)+`}`), `"status":true`)
	require.Contains(t, c.call(`{"target":"space","clientSession":"7","messageType":"GET_REQUEST","template":`+fields(formal, tuple.MaxArity)+`}`), `"value":1`)
}

func TestFault38AnnouncedSizesTakeNoMemory(t *testing.T) {
	t.Parallel()
	f := newFixtureWith(t, 8<<20, foreign.Access{Write: true})
	before := f.Memory.Used()
	for range 50 {
		c := f.dial()
		_, err := io.WriteString(c, `{"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:string","value":"x`)
		require.NoError(t, err)
	}
	require.Contains(t, f.dial().call(`{"messageType":"PUT_REQUEST","target":"space","clientSession":"0","tuple":[]}`), `"status":true`)
	require.Less(t, f.Memory.Used()-before, int64(60*(16<<10)+4096))
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixtureWith(t, 8<<20, foreign.Access{Write: true})
	refused := 0
	for i := range 20 {
		line := f.dial().call(fmt.Sprintf(`{"messageType":"PUT_REQUEST","target":"space","clientSession":"%d","tuple":[{"type":"pspace:string","value":"%s"}]}`, i, strings.Repeat("x", 900_000)))
		var answer struct{ Status bool }
		require.NoError(t, json.Unmarshal([]byte(line), &answer))
		if !answer.Status {
			refused++
		}
		require.LessOrEqual(t, f.Memory.Used(), int64(10<<20))
	}
	require.Positive(t, refused)
	require.Contains(t, f.dial().call(`{"messageType":"GET_REQUEST","target":"space","clientSession":"0","template":[{"formal":true,"value":"pspace:string"}]}`), `"status":true`, "takes go on")
}
