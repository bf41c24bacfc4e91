package page

import (
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/export"
)

// maxExported is how many findings of an episode a file has.
const maxExported = 1_000

// An exportFormat is a file with the findings of an episode.
type exportFormat struct {
	name, file, mediaType string
	write                 func(w io.Writer, e models.Episode, found []catalog.Finding) error
}

// exports are the formats that the page of an episode offers.
var exports = []exportFormat{
	{"CSV", "findings.csv", "text/csv; charset=utf-8", writeCSV},
	{"Labels", "labels.txt", "text/plain; charset=utf-8", func(w io.Writer, _ models.Episode, found []catalog.Finding) error {
		return export.WriteLabels(w, found)
	}},
	{"Chapters", "chapters.json", "application/json+chapters", func(w io.Writer, e models.Episode, found []catalog.Finding) error {
		return export.WriteChapters(w, e, export.Cues(e, found))
	}},
}

// serveExport serves the findings of an episode as a file.
func (p *Page) serveExport(x exportFormat) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, id := p.newVisit(r), r.PathValue("episode")
		var e models.Episode
		var found types.Page[catalog.Finding]
		var b bytes.Buffer
		err := v.get(r.Context(), path("episodes", id), nil, &e)
		if err == nil {
			err = v.get(r.Context(), path("findings"), url.Values{"episode": {id}, "limit": {strconv.Itoa(maxExported)}}, &found)
		}
		if err == nil {
			err = x.write(&b, e, found.Items)
		}
		if err != nil {
			p.fail(w, r, "Archive", err)
			return
		}
		w.Header().Set("Content-Type", x.mediaType)
		w.Header().Set("Content-Disposition", `attachment; filename="`+x.file+`"`)
		_, _ = w.Write(b.Bytes()) // the visitor may be gone
	}
}

func writeCSV(w io.Writer, _ models.Episode, found []catalog.Finding) error {
	rows := [][]string{{"episode", "clip", "offset_s", "duration_s", "score", "part_from_s", "part_to_s", "episode_id", "clip_id"}}
	for _, f := range found {
		rows = append(rows, []string{csvText(f.EpisodeTitle), csvText(f.ClipTitle), f.Offset.String(), f.Duration.String(), strconv.FormatFloat(f.Score, 'f', 3, 64), f.PartFrom.String(), f.PartTo.String(), f.EpisodeID, f.ClipID})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// csvText puts ' before a text that a spreadsheet would take for a formula.
func csvText(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
