package cmd

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const wavRate = 8000

// wav returns a RIFF file of 16-bit sound whose header may be wrong.
func wav(channels uint16, rateHz, dataBytes uint32, samples []int16) []byte {
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00")
	b = le.AppendUint16(b, channels)
	b = le.AppendUint32(b, rateHz)
	b = le.AppendUint32(b, rateHz*2*uint32(channels))
	b = le.AppendUint16(b, 2*channels)
	b = append(b, 16, 0, 'd', 'a', 't', 'a')
	b = le.AppendUint32(b, dataBytes)
	for _, s := range samples {
		b = le.AppendUint16(b, uint16(s))
	}
	return b
}

// sound returns a valid file.
func sound(samples []int16) []byte { return wav(1, wavRate, uint32(2*len(samples)), samples) }

func hiss(seed uint64, seconds float64) []int16 {
	r := rand.New(rand.NewPCG(seed, 1))
	s := make([]int16, int(seconds*wavRate))
	for i := range s {
		s[i] = int16(r.NormFloat64() * 3000)
	}
	return s
}

// tree writes files into a new folder and returns it.
func tree(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	return dir
}

// runJSON runs a command line and returns its lines of JSON.
func runJSON(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	var out, errs bytes.Buffer
	code := (&app{out: &out, err: &errs}).run(context.Background(), args)
	require.Zero(t, code, "%v: %s", args, errs.String())
	var rows []map[string]any
	for line := range strings.Lines(out.String()) {
		var row map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		rows = append(rows, row)
	}
	return rows
}

// problemsOf runs until idle on the origins in dir. It returns the reasons of problems by
// subject, and the number of findings.
func problemsOf(t *testing.T, dir string, origins ...string) (problems map[string]string, findings int) {
	t.Helper()
	data := t.TempDir()
	args := []string{"run", "--until-idle", "--data", data, "--log-level", "error"}
	for _, o := range origins {
		args = append(args, filepath.Join(dir, o))
	}
	var out, errs bytes.Buffer
	code := (&app{out: &out, err: &errs}).run(context.Background(), args)
	require.Zero(t, code, errs.String())
	problems = map[string]string{}
	for _, row := range runJSON(t, "findings", "--problems", "--json", "--data", data) {
		problems[row["subject"].(string)] = row["reason"].(string)
	}
	return problems, len(runJSON(t, "findings", "--json", "--data", data))
}

func TestFault50BadAudioBecomesAProblemAndAllElseGoesOn(t *testing.T) {
	t.Parallel()
	good, clip := hiss(1, 20), hiss(2, 1)
	copy(good[5*wavRate:], clip)
	html := []byte("<!DOCTYPE html><html><body>404</body></html>")
	dir := tree(t, map[string][]byte{
		"show/good.wav":        sound(good),
		"show/truncated.wav":   sound(good)[:10_000],
		"show/empty.wav":       {},
		"show/page.mp3":        html,
		"show/zero hertz.wav":  wav(1, 0, 20, good[:10]),
		"show/no channels.wav": wav(0, wavRate, 20, good[:10]),
		"show/endless.wav":     wav(1, wavRate, 1<<32-1, good[:10]),
		"show/short.wav":       sound(good[:wavRate/2]),
		"clips/drop.wav":       sound(clip),
		"clips/same.wav":       sound(clip),
		"clips/silent.wav":     sound(make([]int16, wavRate)),
		"clips/blip.wav":       sound(clip[:80]),
		"clips/page.mp3":       append(html, '\n'),
	})
	problems, findings := problemsOf(t, dir, "show", "clips")
	require.Equal(t, 1, findings)
	for subject, reason := range map[string]string{
		"truncated":   "truncated.wav: truncated: the sound breaks off at",
		"empty":       "empty",
		"zero hertz":  "zero hertz.wav: 0 Hz: expected",
		"no channels": "no channels.wav: 0 channels: expected",
		" in endless": "longer than the episode",            // its writer left the length open: it is read to its end
		"":            "; researched once, under that name", // drop or same: one of the two
		"silent":      "silent: nothing to look for",
		"blip":        "too short: 0.01 s of sound",
		"page":        "page.mp3: looks like an HTML page, not audio",
		" in short":   "longer than the episode",
	} {
		found := ""
		for s, r := range problems {
			if strings.Contains(s, subject) && strings.Contains(r, reason) {
				found = s
			}
		}
		require.NotEmpty(t, found, "%s: %s\nin %v", subject, reason, problems)
	}
}

// rss returns a feed of items.
func rss(items ...string) []byte {
	return []byte(`<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>` + strings.Join(items, "\n") + `</channel></rss>`)
}

func item(title, url string) string {
	return fmt.Sprintf(`<item><title>%s</title><guid>%s</guid><enclosure url="%s" length="1" type="audio/wav"/></item>`, title, title, url)
}

func TestABadItemOfAFeedBecomesAProblemAndAllElseGoesOn(t *testing.T) {
	t.Parallel()
	good, clip := hiss(1, 10), hiss(2, 1)
	copy(good[5*wavRate:], clip)
	dir := tree(t, map[string][]byte{
		"show/feed.xml": rss(
			item("good", "good.wav"),
			item("missing", "missing.wav"),
			item("passwords", "file:///etc/passwd"),
			item("up", "../secret.wav"),
			item("router", "http://192.168.1.1/a.mp3"),
			item("metadata", "http://169.254.169.254/latest"),
			item("decimal", "http://2130706433/a.mp3"),
			item("gopher", "gopher://example.org/a.mp3"),
			`<item><title>text only</title><guid>text only</guid></item>`,
		),
		"show/good.wav":  sound(good),
		"secret.wav":     sound(good),
		"clips/drop.wav": sound(clip),
	})
	problems, findings := problemsOf(t, dir, "show/feed.xml", "clips")
	require.Equal(t, 1, findings)
	for _, subject := range []string{"missing", "passwords", "up", "router", "metadata", "decimal", "gopher", "text only"} {
		found := false
		for s := range problems {
			found = found || strings.Contains(s, subject)
		}
		require.True(t, found, "%s is not in %v", subject, problems)
	}
	require.Len(t, problems, 9, "these, and that the clip is a hiss")
}

func TestFault49ABadFeedIsAProblemOfItsOriginAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	good, clip := hiss(1, 10), hiss(2, 1)
	copy(good[5*wavRate:], clip)
	many := make([]string, 25_000) // 20,000 are read
	for i := range many {
		many[i] = item(fmt.Sprint("n", i), "many.wav")
	}
	dir := tree(t, map[string][]byte{
		"bad/text.xml":   []byte(`<?xml version="1.0"?> not a feed`),
		"bad/bomb.xml":   []byte(`<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><title>&b;</title></channel></rss>`),
		"bad/many.xml":   rss(many...),
		"bad/many.wav":   sound(good),
		"show/good.wav":  sound(good),
		"clips/drop.wav": sound(clip),
	})
	data := t.TempDir()
	var out, errs bytes.Buffer
	a := &app{out: &out, err: &errs}
	for name, code := range map[string]int{"text": 1, "bomb": 1, "many": 0} {
		got := a.run(context.Background(), []string{"origin", "add", "--kind", "feed", "--data", data, filepath.Join(dir, "bad", name+".xml")})
		require.Equal(t, code, got, errs.String())
	}
	require.Contains(t, out.String(), "many.xml: 20000 recordings")
	require.Zero(t, a.run(context.Background(), []string{"origin", "remove", "--data", data, filepath.Join(dir, "bad/many.xml")}))
	require.Zero(t, a.run(context.Background(), []string{
		"run", "--until-idle", "--data", data, filepath.Join(dir, "show"), filepath.Join(dir, "clips"),
	}), errs.String())
	require.Contains(t, out.String(), "1 finding in 1 work-item")
	reasons := map[string]any{}
	for _, row := range runJSON(t, "findings", "--problems", "--json", "--data", data) {
		reasons[filepath.Base(row["origin"].(string))] = row["reason"]
	}
	require.Len(t, reasons, 3)
	require.Contains(t, reasons["clips"], "noise-like")
	require.Contains(t, reasons["text.xml"], "text.xml")
	require.Contains(t, reasons["bomb.xml"], "bomb.xml")
}
