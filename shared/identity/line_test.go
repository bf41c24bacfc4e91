package identity_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const (
	ca     = "aaaabbbbccccddddeeeeffffgggghhhh"
	secret = "qrstuvwxyz234567qrstuvwxyz234567"
	former = "hhhhggggffffeeeeddddccccbbbbaaaa"
	whole  = "lh1-worker-abcd2345-" + ca + "-" + secret + "@server:7411,[fe80::1]:7411,10.0.0.7:80"
	twice  = "lh2-worker-abcd2345-" + ca + "-" + former + "-1798761600-" + secret + "@server:7411"
)

func TestALineIsReadAsItWasPrinted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		whole,
		"lh1-manager-abcd2345-" + ca + "-" + secret,
		"lh1-manager-abcd2345-" + ca + "-" + secret + "@a-b.example:1",
		twice,
	} {
		line, err := identity.ParseLine(text)
		require.NoError(t, err, text)
		require.Equal(t, text, line.Reveal())
	}
	line, err := identity.ParseLine(whole)
	require.NoError(t, err)
	require.Equal(t, "worker", line.Role)
	require.Equal(t, "abcd2345", line.ID)
	require.Equal(t, ca, line.CA.String())
	require.Equal(t, secret, line.Secret.Reveal())
	require.Equal(t, []string{"server:7411", "[fe80::1]:7411", "10.0.0.7:80"}, line.Addresses)
}

func TestALineOfAChangeNamesBothCAsUntilItsEnd(t *testing.T) {
	t.Parallel()
	line, err := identity.ParseLine(twice)
	require.NoError(t, err)
	end := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, end, line.FormerEnd)
	require.Equal(t, ca+","+former, line.CAs(end.Add(-time.Second)).String())
	require.Equal(t, ca, line.CAs(end).String())
	require.Equal(t, secret, line.Secret.Reveal())

	line, err = identity.ParseLine(whole)
	require.NoError(t, err)
	require.Equal(t, ca, line.CAs(time.Time{}).String())
}

func TestWhatSurroundsALineIsIgnored(t *testing.T) {
	t.Parallel()
	for _, text := range []string{whole + "\n", whole + "\r\n", "  " + whole + "\t", `"` + whole + `"`, "'" + whole + "'\n", "\ufeff" + whole, "\"'" + whole + "\n'\"\n", "`" + whole + "`", "\u00a0" + whole} {
		line, err := identity.ParseLine(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, whole, line.Reveal())
	}
}

func TestAnErrorStatesWhatIsWrongWithALine(t *testing.T) {
	t.Parallel()
	const front = "lh1-worker-abcd2345-" + ca + "-"
	for text, want := range map[string]string{
		"":                                      "it is empty, want lh1-ROLE-ID-CA-SECRET@HOST:PORT",
		" \n":                                   "it is empty",
		"hello":                                 "does not begin with lh1-",
		strings.Replace(whole, "lh1", "lh0", 1): "it has the format lh0, and this program reads lh1 and lh2",
		strings.Replace(whole, "lh1", "lh3", 1): "it has the format lh3",
		strings.Replace(whole, "lh1", "lh2", 1): "the line ends early: it has no end of the former CA",
		strings.Replace(twice, "lh2", "lh1", 1): "it has 7 parts before the addresses, want 5",
		strings.Replace(twice, former, former[1:], 1):      "the fingerprint of the former CA has 31 characters, want 32",
		strings.Replace(twice, former, former[1:]+"1", 1):  "character 32 of the fingerprint of the former CA is wrong",
		strings.Replace(twice, "1798761600", "soon", 1):    "the end of the former CA is not a number of seconds since 1970",
		strings.Replace(twice, "1798761600", "0", 1):       "the end of the former CA is not a number of seconds since 1970",
		strings.Replace(twice, "1798761600", "", 1):        "the end of the former CA is not a number of seconds since 1970",
		twice[:len(twice)-14]:                              "the line ends early: the secret has",
		strings.Replace(whole, "worker", "wroker", 1):      `unknown role "wroker", want worker or manager`,
		strings.Replace(whole, "worker", "coordinator", 1): `unknown role "coordinator"`,
		strings.Replace(whole, "worker", secret, 1):        "unknown role, want worker or manager",
		"lh1":                        "the line ends early: it has no role",
		"lh1-worker":                 "the line ends early: it has no id",
		"lh1-worker-abcd":            "the line ends early: the id has 4 characters, want 8",
		"lh1-worker-abcd2345":        "the line ends early: it has no fingerprint of the CA",
		"lh1-worker-abcd2345-aaaa":   "the line ends early: the fingerprint of the CA has 4 characters, want 32",
		front[:len(front)-1]:         "the line ends early: it has no secret",
		front:                        "the line ends early: the secret has 0 characters, want 32",
		front + secret[:31]:          "the line ends early: the secret has 31 characters, want 32",
		front + secret[:31] + "@a:1": "join line: the secret has 31 characters, want 32",
		front + secret + "q":         "join line: the secret has 33 characters, want 32",
		front + secret + "@":         "the line ends early: there is no address after @",
		front + secret + "-x@a:1":    "it has 6 parts before the addresses, want 5",
		front + secret + "@a":        `address "a", want HOST:PORT with a port from 1 to 65535`,
		front + secret + "@a:0":      `address "a:0"`,
		front + secret + "@a:65536":  `address "a:65536"`,
		front + secret + "@a:1,":     `address "", want HOST:PORT`,
		front + secret + "@:1":       `address ":1"`,
		front + secret + "@a/b:1":    `address "a/b:1"`,
		front + secret + "@a:1," + front + secret + "@b:1":    "(secret)",
		front + strings.ToUpper(secret):                       "character 1 of the secret is wrong, want only a to z and 2 to 7",
		front + secret[:31] + "1":                             "character 32 of the secret is wrong",
		strings.Replace(whole, "abcd2345", "abcd234é"[:8], 1): "character 8 of the id is wrong",
		strings.Replace(whole, ca, ca[:31]+"0", 1):            "character 32 of the fingerprint of the CA is wrong",
		front + secret[:16] + "\n" + secret[16:]:              "white space or a line break after byte 69",
		whole + " " + whole:                                   "white space or a line break after byte",
		whole + strings.Repeat(",a:1", 2000):                  "want at most 4096",
	} {
		_, err := identity.ParseLine(text)
		require.ErrorIs(t, err, fault.ErrInvalid, "%q", text)
		require.ErrorContains(t, err, want, "%q", text)
		requireHidden(t, err.Error())
	}
}

func requireHidden(t *testing.T, text string) {
	t.Helper()
	require.NotContains(t, strings.ToLower(text), secret[:16])
}

func TestOnlyRevealShowsASecret(t *testing.T) {
	t.Parallel()
	line, err := identity.ParseLine(whole)
	require.NoError(t, err)
	type outer struct {
		Line   identity.Line
		line   identity.Line
		secret identity.Secret
		ptr    *identity.Line
	}
	values := []any{line, &line, line.Secret, &line.Secret, []any{line}, map[string]any{"line": line}, outer{line, line, line.Secret, &line}}
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T", "%p"} {
			requireHidden(t, fmt.Sprintf(verb, v))
			require.NotContains(t, fmt.Sprintf(verb, v), fmt.Sprintf("%x", "qrst"))
		}
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("join", "value", v, slog.Group("g", "value", v))
		slog.New(slog.NewJSONHandler(&out, nil)).Info("join", "value", v)
		requireHidden(t, out.String())
		data, err := json.Marshal(v)
		require.NoError(t, err)
		requireHidden(t, string(data))
	}
	require.Equal(t, strings.Replace(whole, secret, "(secret)", 1), fmt.Sprint(line))
	require.Equal(t, fmt.Sprint(line), line.String())
	require.Equal(t, "(secret)", fmt.Sprintf("%#v", line.Secret))
}

func TestNewSecretsDiffer(t *testing.T) {
	t.Parallel()
	a, b := identity.NewSecret(), identity.NewSecret()
	require.NotEqual(t, a.Reveal(), b.Reveal())
	again, err := identity.ParseSecret(a.Reveal())
	require.NoError(t, err)
	require.Equal(t, a.Sum(), again.Sum())
	require.NotEqual(t, a.Sum(), b.Sum())
	require.Empty(t, identity.Secret{}.Reveal())
	require.NotEqual(t, a.Sum(), identity.Secret{}.Sum())
	line := identity.Line{Role: identity.Manager, ID: identity.NewID(), Secret: a}
	read, err := identity.ParseLine(line.Reveal())
	require.NoError(t, err)
	require.Equal(t, line.Reveal(), read.Reveal())
}

// FuzzParseLine replaces a part of a good line, so that most inputs come close to one.
func FuzzParseLine(f *testing.F) {
	f.Add(0, 0, "")
	f.Add(3, 1, "-")
	f.Add(52, 40, "\n")
	f.Add(85, 0, "@")
	f.Add(0, len(whole), "lh1-worker")
	f.Add(len(whole), 0, ","+whole)
	f.Fuzz(func(t *testing.T, at, cut int, insert string) {
		at = min(max(at, 0), len(whole))
		end := at + min(max(cut, 0), len(whole)-at)
		text := whole[:at] + insert + whole[end:]
		line, err := identity.ParseLine(text)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInvalid)
			if !strings.Contains(insert, secret[:16]) {
				require.NotContains(t, err.Error(), secret[:24])
			}
			return
		}
		again, err := identity.ParseLine(line.Reveal())
		require.NoError(t, err)
		require.Equal(t, line.Reveal(), again.Reveal())
		require.Len(t, line.Secret.Reveal(), 32)
		require.NotContains(t, fmt.Sprintf("%+v", line), line.Secret.Reveal())
	})
}

func ExampleParseLine() {
	line, err := identity.ParseLine(whole + "\n")
	fmt.Println(line.Role, line.Addresses[0], err)
	fmt.Println(line)
	// Output:
	// worker server:7411 <nil>
	// lh1-worker-abcd2345-aaaabbbbccccddddeeeeffffgggghhhh-(secret)@server:7411,[fe80::1]:7411,10.0.0.7:80
}
