package pspace_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const anyInt = `[{"formal":true,"value":"pspace:int"}]`

func TestEveryRequestIsAnsweredWithItsSession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	for i, request := range []string{
		`"messageType":"PUT_REQUEST","target":"space","tuple":[]`,
		`"messageType":"PUT_REQUEST","target":"nospace","tuple":[]`,
		`"messageType":"PUT_REQUEST","target":"space"`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":7`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:int","value":"x"}]`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:int","value":1e10}]`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:boolean","value":1}]`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:string"}]`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"value":1}]`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:char","value":"ab"}]`,
		`"messageType":"PUT_REQUEST","target":"space","tuple":[{"type":"pspace:double","value":"NaN"}]`,
		`"messageType":"PUT_REQUEST","target":"lease","tuple":[]`,
		`"messageType":"GET_REQUEST","target":"space","template":[{"formal":false,"value":null}]`,
		`"messageType":"GET_REQUEST","target":"space","template":[{"formal":true,"value":3}]`,
		`"messageType":"GET_REQUEST","target":"space","template":[{}]`,
		`"messageType":"GET_REQUEST","target":"space","template":null`,
		`"messageType":"GET_REQUEST","target":"space"`,
		`"messageType":"GET_REQUEST","target":"nospace","template":` + anyInt,
		`"messageType":"GET_REQUEST","target":"nospace","blocking":true,"template":` + anyInt,
		`"messageType":"QUERY_REQUEST","target":"nospace","all":true,"template":` + anyInt,
		`"messageType":"QUERY_REQUEST","target":"space","all":true,"template":` + anyInt,
		`"messageType":"GET_REQUEST","target":"task","all":true,"template":` + anyInt,
		`"messageType":"GET_REQUEST","target":"task","template":` + anyInt,
		`"messageType":"FOO_REQUEST","target":"space"`,
		`"messageType":"ACK"`,
		`"messageType":7`,
		`"target":"space"`,
	} {
		var answer struct {
			ClientSession string
			Status        bool
			Tuples        []any
			MessageType   string
		}
		line := c.call(fmt.Sprintf(`{%s,"clientSession":"%d"}`, request, i))
		require.NoError(t, json.Unmarshal([]byte(line), &answer), line)
		require.Equal(t, fmt.Sprint(i), answer.ClientSession, request)
		if answer.Status && answer.MessageType == "GET_RESPONSE" {
			require.NotNil(t, answer.Tuples, request)
		}
	}
	count, err := f.Repo.Space("space").Count(t.Context(), tuple.Match())
	require.NoError(t, err)
	require.Equal(t, 1, count, "only the first request put something")
}

func TestATupleIsFoundByTheTypesThatTheLanguagesShare(t *testing.T) {
	t.Parallel()
	formal := func(name string) string { return fmt.Sprintf(`[{"formal":true,"value":%q}]`, name) }
	actual := func(name, value string) string {
		return fmt.Sprintf(`[{"formal":false,"value":{"type":%q,"value":%s}}]`, name, value)
	}
	const none = "[]"
	for _, c := range []struct {
		put      any
		template string
		want     string // tuples of the answer
	}{
		{1, formal("pspace:int"), `[[{"type":"pspace:int","value":1}]]`},
		{1, formal("pspace:long"), none},
		{1, actual("pspace:int", "1"), `[[{"type":"pspace:int","value":1}]]`},
		{1 << 40, formal("pspace:int"), none},
		{1 << 40, formal("pspace:long"), `[[{"type":"pspace:long","value":1099511627776}]]`},
		{1 << 40, actual("pspace:long", "1099511627776"), `[[{"type":"pspace:long","value":1099511627776}]]`},
		{int32(1), formal("pspace:int"), `[[{"type":"pspace:int","value":1}]]`},
		{int32(1), formal("pspace:long"), none},
		{int64(1), formal("pspace:long"), `[[{"type":"pspace:long","value":1}]]`},
		{int64(1), formal("pspace:int"), none},
		{int64(1), actual("pspace:int", "1"), none},
		{1, formal("java.lang.Number"), `[[{"type":"pspace:int","value":1}]]`},
		{2.5, formal("java.lang.Number"), `[[{"type":"pspace:double","value":2.5}]]`},
		{"x", formal("java.lang.Number"), none},
		{"x", formal("java.lang.Object"), `[[{"type":"pspace:string","value":"x"}]]`},
		{nil, formal("java.lang.Object"), none},
		{tuple.Opaque{Name: "go:main.Job", JSON: "{}"}, formal("java.lang.Object"), none},
		{[]byte{1, 255}, formal("[B"), `[[{"type":"[B","value":[1,-1]}]]`},
		{[]byte{1, 255}, actual("[B", "[1,-1]"), `[[{"type":"[B","value":[1,-1]}]]`},
		{math.Inf(-1), formal("pspace:double"), `[[{"type":"pspace:double","value":"-Infinity"}]]`},
		{tuple.New(nil, 1<<40, 1), formal("pspace:tuple"),
			`[[{"type":"pspace:tuple","value":[{"type":"java.lang.Object","value":null},{"type":"pspace:long","value":1099511627776},{"type":"pspace:int","value":1}]}]]`},
		{tuple.Opaque{Name: "C", JSON: "no JSON\n"}, formal("C"), `[[{"type":"C","value":"no JSON\n"}]]`},
		{tuple.Opaque{Name: "C", JSON: "[1,\n2]"}, formal("C"), `[[{"type":"C","value":[1,2]}]]`},
		{"\xff", formal("pspace:string"), `[[{"type":"pspace:string","value":"` + "\uFFFD" + `"}]]`},
	} {
		f := newFixture(t)
		f.Put("space", tuple.New(c.put))
		line := f.dial().call(`{"messageType":"GET_REQUEST","target":"space","clientSession":"0","template":` + c.template + `}`)
		var answer struct{ Tuples json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(line), &answer), line)
		require.JSONEq(t, c.want, string(answer.Tuples), "%v by %s", c.put, c.template)
	}
}

func TestATypeThatNoneKnowsIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	c.call(`{"messageType":"PUT_REQUEST","target":"space","clientSession":"0","tuple":[{"type":"no.such.Class","value":{"b":[1, 2.50,{"x":null}],"a":"\u00e5"}}]}`)
	stored, err := f.Repo.Space("space").QueryAll(t.Context(), tuple.Match(tuple.Formal{Type: tuple.OpaqueType("no.such.Class")}))
	require.NoError(t, err)
	require.Equal(t, []tuple.Tuple{tuple.New(tuple.Opaque{Name: "no.such.Class", JSON: `{"a":"å","b":[1,2.50,{"x":null}]}`})}, stored)
	line := c.call(`{"messageType":"GET_REQUEST","target":"space","clientSession":"1","template":[{"formal":false,"value":{"type":"no.such.Class","value":{"a":"å","b":[1,2.50,{"x":null}]}}}]}`)
	require.Contains(t, line, `{"type":"no.such.Class","value":{"a":"å","b":[1,2.50,{"x":null}]}}`)
}

func TestAGetOfAnyObjectWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	waiting := f.dial()
	waiting.send(`{"messageType":"GET_REQUEST","target":"space","blocking":true,"clientSession":"0","template":[{"formal":true,"value":"java.lang.Object"},{"formal":true,"value":"pspace:int"}]}`)
	f.Put("space", tuple.New("x"), tuple.New(tuple.Opaque{Name: "Job", JSON: "{}"}, int32(3)))
	require.Contains(t, waiting.answer(), `"tuples":[[{"type":"Job","value":{}},{"type":"pspace:int","value":3}]]`)
}

func TestAnswersComeInAnyOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	c.send(`{"messageType":"GET_REQUEST","target":"space","blocking":true,"clientSession":"a","template":` + anyInt + `}`)
	require.Contains(t, c.call(`{"messageType":"QUERY_REQUEST","target":"space","clientSession":"b","template":`+anyInt+`}`), `"tuples":[],"clientSession":"b"`)
	require.Contains(t, c.call(`{"messageType":"PUT_REQUEST","target":"space","clientSession":"c","tuple":[{"type":"pspace:int","value":1}]}`)+c.answer(),
		`"clientSession":"a"`)
}

func TestAReadOnlyGateOnlyQueries(t *testing.T) {
	t.Parallel()
	f := newFixtureWith(t, 0, foreign.Access{})
	f.Put("space", tuple.New(int32(1)))
	c := f.dial()
	for _, refused := range []string{`"messageType":"PUT_REQUEST","tuple":[]`, `"messageType":"GET_REQUEST","template":` + anyInt, `"messageType":"GET_REQUEST","all":true,"template":` + anyInt} {
		require.Contains(t, c.call(`{"target":"space","clientSession":"0",`+refused+`}`), `"status":false,"statusCode":"403"`)
	}
	require.Contains(t, c.call(`{"target":"space","clientSession":"0","messageType":"QUERY_REQUEST","template":`+anyInt+`}`), `"value":1`)
	f.AwaitCount("space", tuple.Match(tuple.Formal{Type: tuple.Int32}), 1)
}

func TestTheSpacesOfTheProtocolsAreReadOnly(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	for _, name := range []string{lease.Space, status.Space, task.Dead} {
		f.Put(name, tuple.New(int32(1)))
		for _, refused := range []string{`"messageType":"PUT_REQUEST","tuple":[]`, `"messageType":"GET_REQUEST","template":` + anyInt} {
			require.Contains(t, c.call(`{"target":"`+name+`","clientSession":"0",`+refused+`}`), `"status":false,"statusCode":"403"`)
		}
		require.Contains(t, c.call(`{"target":"`+name+`","clientSession":"0","messageType":"QUERY_REQUEST","template":`+anyInt+`}`), `"value":1`)
	}
}

func TestAPutIntoAFullSpaceWaitsForCapacity(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	require.NoError(t, f.Repo.Create(t.Context(), "small", space.Options{Capacity: 1}))
	f.Put("small", tuple.New(int32(1)))
	c := f.dial()
	c.send(`{"messageType":"PUT_REQUEST","target":"small","clientSession":"0","tuple":[{"type":"pspace:int","value":2}]}`)
	f.AwaitWaiters(1)
	require.Contains(t, c.call(`{"messageType":"GET_REQUEST","target":"small","clientSession":"1","template":`+anyInt+`}`)+c.answer(), `"messageType":"PUT_RESPONSE","status":true`)
}

func TestClientsThatSendNoNewlineAreUnderstood(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	put := `{"messageType":"PUT_REQUEST","target":"space","clientSession":"0","tuple":[{"type":"pspace:string","value":"} \" {"}]}`
	_, err := io.WriteString(c, put+put)
	require.NoError(t, err)
	require.Contains(t, c.answer()+c.answer(), `"status":true`)
	f.AwaitCount("space", tuple.Match(`} " {`), 2)
}

func TestSpaceJSIsAnsweredInItsDialect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	ask := func(request string) map[string]any {
		_, err := io.WriteString(c, request)
		require.NoError(t, err)
		var answer map[string]any
		require.NoError(t, json.NewDecoder(c.r).Decode(&answer))
		return answer
	}
	put := ask(`{"messageType":"PUT_REQUEST","target":"space","clientSession":1,"tuple":[{"type":"pspace:string","value":"a"},{"type":"pspace:double","value":2},{"type":"pSpace:Tuple","value":[]}]}`)
	require.Equal(t, "ACTION_PERFORMED", put["statusMessage"])
	require.InDelta(t, 1, put["clientSession"], 0)
	got := ask(`{"messageType":"GET_REQUEST","target":"space","clientSession":2,"template":[{"formal":false,"value":"a"},{"formal":false,"value":2},{"formal":true,"value":"pSpace:Tuple"}]}`)
	require.Len(t, got["tuples"], 1)
	require.Empty(t, ask(`{"messageType":"QUERY_REQUEST","target":"space","clientSession":3,"template":[{"formal":false,"value":true}]}`)["tuples"])
	require.Equal(t, "SPACE_NOT_EXISTING", ask(`{"messageType":"GET_REQUEST","target":"no","clientSession":4,"template":[{"formal":true,"value":"pspace:string"}]}`)["statusMessage"])
}

func TestDotSpaceIsAnsweredInItsDialect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.dial()
	ask := func(action, content string) string {
		return c.call(`{"Actiontype":0,"Action":"` + action + `","Source":"","Session":"6f9619ff","Target":"space",` + content + `}`)
	}
	answer := func(number int, action, result string) string {
		return fmt.Sprintf(`{"Actiontype":%d,"Action":"%s_RESPONSE","Source":"","Session":"6f9619ff","Target":"space","Code":200,"Message":"OK","Result":%s}`, number, action, result)
	}
	const fields = `[{"TypeName":"string","Value":"a"},{"TypeName":"int","Value":1},{"TypeName":"decimal","Value":1.50}]`
	const template = `"Template":[{"TypeName":"string","Value":"a"},{"TypeName":"int"},{"TypeName":"decimal"}]`
	require.JSONEq(t, answer(14, "PUT", "null"), ask("PUT_REQUEST", `"Tuple":`+fields))
	require.JSONEq(t, answer(12, "QUERYP", fields), ask("QUERYP_REQUEST", template))
	require.JSONEq(t, answer(11, "QUERY", fields), ask("QUERY_REQUEST", template))
	require.JSONEq(t, answer(13, "QUERYALL", "["+fields+"]"), ask("QUERYALL_REQUEST", template))
	require.JSONEq(t, answer(10, "GETALL", "["+fields+"]"), ask("GETALL_REQUEST", template))
	require.JSONEq(t, answer(10, "GETALL", "[]"), ask("GETALL_REQUEST", template))
	require.JSONEq(t, answer(9, "GETP", "null"), ask("GETP_REQUEST", template))
	f.Put("space", tuple.New(int64(5)))
	require.JSONEq(t, answer(8, "GET", `[{"TypeName":"long","Value":5}]`), ask("GET_REQUEST", `"Template":[{"TypeName":"long"}]`))
	require.Contains(t, ask("FOO", template), `"Action":"NONE","Source":"","Session":"6f9619ff","Target":"space","Code":400`)
	require.Contains(t, strings.ReplaceAll(ask("GETP_REQUEST", `"Target":"no",`+template), `"Target":"no"`, ""), `"Code":404`)
}
