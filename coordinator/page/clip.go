package page

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// Limits of the page of a clip.
const (
	maxClipFound = 1_000 // findings that are read
	maxClipRows  = 100   // that are listed
	maxYears     = 15
)

// clipPage is a clip, and where it was played over the years.
type clipPage struct {
	models.Clip
	Found    []catalog.Finding // the latest
	Total    int
	Read     int // of Total, for the picture
	Episodes int // of those that were read
	Years    template.HTML
	Problems []catalog.Problem
}

// readClip reads the page of one clip.
func readClip(v *visit) (any, error) {
	id := v.PathValue("clip")
	c := clipPage{}
	if err := v.get(v.Context(), path("clips", id), nil, &c.Clip); err != nil {
		return nil, err
	}
	v.title = c.Title
	query := url.Values{"clip": {id}, "limit": {strconv.Itoa(maxClipFound)}}
	var found types.Page[catalog.Finding]
	if err := v.get(v.Context(), path("findings"), query, &found); err != nil {
		return nil, err
	}
	query.Set("limit", strconv.Itoa(episodeProblems))
	var problems types.Page[catalog.Problem]
	err := v.get(v.Context(), path("problems"), query, &problems)
	c.Problems = problems.Items
	c.Total, c.Read, c.Episodes = found.Total, len(found.Items), countEpisodes(found.Items)
	slices.SortStableFunc(found.Items, func(a, b catalog.Finding) int { return b.Aired.Compare(a.Aired) })
	c.Found = found.Items[:min(len(found.Items), maxClipRows)]
	c.Years = yearsOf(found.Items)
	return c, err
}

// countEpisodes counts the episodes of findings.
func countEpisodes(found []catalog.Finding) int {
	ids := map[string]bool{}
	for _, f := range found {
		ids[f.EpisodeID] = true
	}
	return len(ids)
}

// Geometry of the picture of years, in units of its SVG.
const (
	monthWidth, yearHeight = 44, 26
	yearLeft, yearTop      = 52, 20
	yearShades             = 4
)

// yearsOf draws how often a clip was found in each month: a row for each year, the latest at the top. Findings in episodes
// without a date are left out; the picture is empty if none has one.
func yearsOf(found []catalog.Finding) template.HTML {
	byMonth, first, last, most := map[[2]int]int{}, 0, 0, 0
	for _, f := range found {
		if f.Aired.IsZero() {
			continue
		}
		month := [2]int{f.Aired.UTC().Year(), int(f.Aired.UTC().Month())}
		if first == 0 || month[0] < first {
			first = month[0]
		}
		last = max(last, month[0])
		byMonth[month]++
		most = max(most, byMonth[month])
	}
	if len(byMonth) == 0 {
		return ""
	}
	first = max(first, last-maxYears+1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart years" viewBox="0 0 %d %d" role="img" aria-label="%s">`, yearLeft+12*monthWidth, yearTop+(last-first+1)*yearHeight,
		fmt.Sprintf("Findings by month from %d to %d, at most %s in a month", first, last, number(int64(most))))
	for m := range 12 {
		fmt.Fprintf(&b, `<text class="x" x="%d" y="12">%s</text>`, yearLeft+m*monthWidth+monthWidth/2-2, time.Month(m + 1).String()[:3])
	}
	for year := last; year >= first; year-- {
		y := yearTop + (last-year)*yearHeight
		fmt.Fprintf(&b, `<text class="y" x="%d" y="%d">%d</text>`, yearLeft-8, y+16, year)
		for m := 1; m <= 12; m++ {
			n := byMonth[[2]int{year, m}]
			shade := 0
			if n > 0 {
				shade = 1 + (n*yearShades-1)/most
				shade = min(shade, yearShades)
			}
			x := yearLeft + (m-1)*monthWidth
			fmt.Fprintf(&b, `<rect class="s%d" x="%d" y="%d" width="%d" height="%d" rx="4"><title>%s %d: %s</title></rect>`, shade, x, y, monthWidth-4, yearHeight-4, time.Month(m), year, count(int64(n), "finding"))
			if n > 0 {
				fmt.Fprintf(&b, `<text class="of%d" x="%d" y="%d">%s</text>`, shade, x+monthWidth/2-2, y+15, compact(float64(n)))
			}
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
