package export

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/catalog"
)

var (
	// vttCue is a valid cue: a number, times, one line of text without a tag or an arrow.
	vttCue  = regexp.MustCompile(`^[0-9]+\n[0-9]{2,}:[0-5][0-9]:[0-5][0-9]\.[0-9]{3} --> [0-9]{2,}:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}\n[^\n\r<>]*\n?$`)
	lonelyE = regexp.MustCompile(`&(amp;|lt;|gt;)?`)
)

func TestPlayersCanReadFindingsWithAnyTitle(t *testing.T) {
	t.Parallel()
	e := models.Episode{Recording: models.Recording{ID: "e", Title: "E\n\x1b[31m"}}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "n")
		var found []catalog.Finding
		for range n {
			found = append(found, catalog.Finding{
				EpisodeID: "e", Occurrence: models.Occurrence{
					Offset:   models.Seconds(rapid.Float64Range(-1, 400_000).Draw(t, "offset")),
					Duration: models.Seconds(rapid.Float64Range(0, 120).Draw(t, "duration")),
				},
				ClipTitle: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a --> b", "<v x>&lt;", "\xff\x00\r\n\r\nNOTE", "a\x1b[2Jb"})).Draw(t, "title"),
			})
		}
		found = append(found, catalog.Finding{EpisodeID: "another"})
		cues := Cues(e, found)
		var buf bytes.Buffer
		if err := WriteWebVTT(&buf, cues); err != nil || !utf8.Valid(buf.Bytes()) {
			t.Fatal(err, buf.String())
		}
		blocks := strings.Split(buf.String(), "\n\n")
		if len(blocks) != n+1 || strings.TrimSpace(blocks[0]) != "WEBVTT" {
			t.Fatalf("%d cues:\n%s", n, buf.String())
		}
		for _, b := range blocks[1:] {
			if !vttCue.MatchString(b) {
				t.Fatalf("invalid cue %q", b)
			}
			for _, entity := range lonelyE.FindAllString(b, -1) {
				if entity == "&" {
					t.Fatalf("%q has an unescaped &", b)
				}
			}
		}
		buf.Reset()
		var doc struct{ Chapters []chapter }
		if err := WriteChapters(&buf, e, cues); err != nil || json.Unmarshal(buf.Bytes(), &doc) != nil || len(doc.Chapters) != n {
			t.Fatal(err, buf.String())
		}
		last := 0.0
		for _, c := range doc.Chapters {
			if c.Start < last || c.End <= c.Start {
				t.Fatalf("%+v after %v", c, last)
			}
			last = c.Start
		}
	})
}

func TestALabelTrackIsOneLineForEachFinding(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	require.NoError(t, WriteLabels(&buf, []catalog.Finding{
		{EpisodeID: "e", Occurrence: models.Occurrence{Offset: 9, Duration: 1}, ClipTitle: "b\tc\nd"},
		{EpisodeID: "e", Occurrence: models.Occurrence{Offset: 1, Duration: 1, PartFrom: .5, PartTo: 1.5, Coverage: .5}, ClipTitle: "a\x1b[31m"},
	}))
	require.Equal(t, "1.000000\t2.000000\ta (0.50–1.50 s)\n9.000000\t10.000000\tb c d\n", buf.String())
}
