package page_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fetch"
)

// soundSeconds is how long the recording of addShow lasts.
const soundSeconds = 120

// wav is a recording at 8 kHz, whose loudness changes each second.
func wav() []byte {
	le := binary.LittleEndian
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = le.AppendUint32(b, 8000)
	b = le.AppendUint32(b, 16000)
	b = append(b, 2, 0, 16, 0)
	b = append(b, "data"...)
	b = le.AppendUint32(b, 16000*soundSeconds)
	le.PutUint32(b[4:], uint32(len(b)-8+16000*soundSeconds))
	for i := range 8000 * soundSeconds {
		b = le.AppendUint16(b, uint16(int16(8000*math.Sin(float64(i)/5)*(1.2+math.Sin(float64(i/8000))))))
	}
	return b
}

// addShow adds a local episode with a waveform, findings of several clips, and earlier episodes of one of them. It returns
// the ids of the episode and that clip, and the file of the recording.
func (h *fixture) addShow(title, clipTitle string) (episode, clip, file string) {
	h.Helper()
	dir := h.TempDir()
	file = filepath.Join(dir, "show.wav")
	require.NoError(h, os.WriteFile(file, wav(), 0o600))
	_, err := h.store.AddOrigin(h.Context(), models.Origin{ID: "show", Kind: models.Media, URI: dir, AddedAt: time.Now()})
	require.NoError(h, err)
	listing := catalog.Listing{}
	aired := time.Date(2026, 11, 9, 18, 0, 0, 0, time.UTC)
	for n := range 60 {
		name := fmt.Sprintf("show-%d", n)
		listing.Episodes = append(listing.Episodes, models.Episode{Aired: aired.AddDate(0, 0, -n*n), Recording: models.Recording{Name: name, Title: fmt.Sprintf("%s, part %d", title, 60-n), Media: models.MediaRef{URI: fetch.FileURI(file), Type: "audio/wav"}}})
	}
	for _, name := range []string{clipTitle, "sweep", "lease", "ding", "tuple", "drums", "farewell"} {
		listing.Clips = append(listing.Clips, models.Clip{Recording: models.Recording{Name: name, Title: name, Media: models.MediaRef{URI: "https://clips.example/" + models.NewID(name)}}})
	}
	_, err = h.store.Curate(h.Context(), "show", time.Now(), listing)
	require.NoError(h, err)
	id := func(name string) string { return models.NewID("show", name) }
	peaks := make([]byte, models.MaxPeaks)
	for i := range peaks {
		peaks[i] = byte(60 + 50*math.Sin(float64(i)/17)*math.Sin(float64(i)/3) + 40*math.Sin(float64(i*i%997)))
	}
	for n := range 60 {
		r := models.Researched{Episode: id(fmt.Sprintf("show-%d", n)), ClipMedia: map[string]models.MediaRef{}}
		for i, c := range listing.Clips {
			if n > 0 && i > 0 {
				continue
			}
			r.Clips = append(r.Clips, id(c.Name))
			r.ClipMedia[id(c.Name)] = models.MediaRef{}
			r.Findings = append(r.Findings, models.Finding{Episode: r.Episode, Clip: id(c.Name), Occurrence: models.Occurrence{Offset: models.Seconds(2 + i*17), Duration: models.Seconds(2 + i%3*2), Score: .98 - float64(i)/20, PartTo: 3, Coverage: 1}})
		}
		if n == 0 {
			r.Waveform = &models.Waveform{Duration: soundSeconds, Peaks: peaks}
			r.Findings = append(r.Findings, models.Finding{Episode: r.Episode, Clip: id("drums"), Occurrence: models.Occurrence{Offset: 4, Duration: 3, Score: .71, PartFrom: 1, PartTo: 2.5, Coverage: .5}})
		}
		require.NoError(h, h.store.Ingest(h.Context(), r, time.Now()))
	}
	return id("show-0"), id(clipTitle), file
}

func TestAnEpisodeIsAPictureWithItsFindings(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	episode, clip, file := h.addShow("The show", "=jingle")
	text := h.shows("/archive/episodes/"+episode, "The show, part 60", `aria-label="Waveform of 2:00 with 8 findings"`, `data-length="120.00"`,
		`<audio id="sound" controls preload="none" src="/archive/episodes/`+episode+`/sound">`, "/sound#t=4.00", `href="/archive/clips/`+clip+`">59 more</a>`, ">1:00</text>")
	require.Less(t, len(text), 60_000)
	h.shows("/archive", `href="/archive/episodes/`+episode+`"`, `href="/archive/clips/`+clip+`"`)

	w := h.get("/archive/episodes/" + episode + "/findings.csv")
	require.Equal(t, http.StatusOK, w.Code)
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	require.Len(t, lines, 9)
	require.True(t, strings.HasPrefix(lines[1], `"The show, part 60",'=jingle,2,2,0.980,0,3,`), lines[1])

	w = h.get("/archive/episodes/" + episode + "/labels.txt")
	require.Equal(t, `attachment; filename="labels.txt"`, w.Header().Get("Content-Disposition"))
	require.True(t, strings.HasPrefix(w.Body.String(), "2.000000\t4.000000\t=jingle\n4.000000\t7.000000\tdrums (1.00–2.50 s)\n"), w.Body.String())
	require.Equal(t, 8, strings.Count(w.Body.String(), "\n"))
	w = h.get("/archive/episodes/" + episode + "/chapters.json")
	require.Equal(t, "application/json+chapters", w.Header().Get("Content-Type"))
	require.Contains(t, w.Body.String(), `"title": "The show, part 60"`)
	require.Equal(t, 8, strings.Count(w.Body.String(), `"startTime"`))

	require.True(t, bytes.Equal(wav(), h.get("/archive/episodes/"+episode+"/sound").Body.Bytes()))
	require.NoError(t, os.Remove(file))
	w = h.get("/archive/episodes/" + episode + "/sound")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "The show, part 60 cannot be played: fetch file://")
	require.Contains(t, w.Body.String(), "no such file.")
	for _, path := range []string{"/archive/episodes/none", "/archive/episodes/none/sound", "/archive/episodes/none/findings.csv", "/archive/episodes/none/labels.txt", "/archive/episodes/none/chapters.json", "/archive/clips/none"} {
		require.Equal(t, http.StatusNotFound, h.get(path).Code, path)
	}
}

func TestAnEpisodeWithoutAPicture(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.fill("<script>alert(1)</script>", "reason")
	text := h.shows("/archive/episodes/"+models.NewID("o", "e"), "Not drawn yet", "&lt;script&gt;alert(1)")
	require.NotContains(t, text, "<script>alert")
}

func TestTheArchiveListsEpisodesWithTheirProgress(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.fill("Monday 50%", "reason")
	h.addShow("The show", "jingle")
	newest := models.NewID("show", "show-0")
	text := h.shows("/archive", "Episodes <span class=\"soft\">61", `href="/archive/episodes/`+newest+`">The show, part 60</a>`, `<td class="n" data-label="searched">7 of 9</td><td class="n">8 findings</td>`, `href="/archive?after=50"`)
	require.Equal(t, 50, strings.Count(text, "<tr data-key"))
	text = h.shows("/archive?after=50&from=50", `href="/archive?from=50">first page`, `href="/archive?after=50">first page`, "The show, part 1<")
	require.Equal(t, 11, strings.Count(text, "<tr data-key"))
	text = h.shows("/archive?title=SHOW", "Episodes <span class=\"soft\">60 of 61", `value="SHOW"`, `href="/archive?after=50&amp;title=SHOW"`)
	require.NotContains(t, text, ">Monday 50%</a></td><td class=\"n soft\" data-label")
	require.Equal(t, 1, strings.Count(h.shows("/archive?title=0%25"), "<tr data-key"))
	for _, query := range []string{"title=nothing", "title=%3Cscript%3Ealert(1)", "title=.*", "title=" + strings.Repeat("x", 5000)} {
		require.NotContains(t, h.shows("/archive?"+query, "No episode has this text in its title."), "<script>alert")
	}
	for _, query := range []string{"after=-1", "after=x", "after=99999999999999999999"} {
		h.shows("/archive?" + query)
	}
	require.Less(t, len(h.shows("/archive")), 150_000)
}

func TestAClipOverTheYears(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	_, clip, _ := h.addShow("The show", "jingle")
	h.shows("/archive/clips/"+clip, "<b>60</b> findings in <b>60</b> episodes", "Findings by month from 2017 to 2026", "November 2026: 3 findings", "October 2026: 4 findings", "The show, part 60")
	none := h.shows("/archive/clips/"+models.NewID("show", "ding"), "November 2026: 1 finding")
	require.NotContains(t, none, "2025")
}

// A role that may not see the archive hears nothing of it.
func TestSoundNeedsTheRoleOfTheEpisode(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	episode, _, _ := h.addShow("The show", "jingle")
	for role, want := range map[string]int{"reader": http.StatusOK, "worker": http.StatusForbidden} {
		require.Equal(t, want, h.request("GET", "/archive/episodes/"+episode+"/sound", role, nil).Code, role)
	}
}

func TestARangeOfTheSound(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	episode, _, _ := h.addShow("The show", "jingle")
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/archive/episodes/"+episode+"/sound", nil)
	r.Host = "localhost"
	r.Header.Set("Range", "bytes=0-3")
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusPartialContent, w.Code)
	require.Equal(t, "RIFF", w.Body.String())
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "media-src 'self'")
}
