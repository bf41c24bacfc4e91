package page

import (
	"html/template"
	"net/url"
	"strconv"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// Limits of the page of an episode.
const (
	maxFound        = 200 // findings that are shown
	maxOthers       = 30  // clips whose other findings are counted
	episodeProblems = 20
)

// episodePage is an episode with its picture.
type episodePage struct {
	models.Episode
	OriginURI string
	Found     []foundClip
	Total     int // findings
	Clips     int // that are among Found
	Problems  []catalog.Problem
	Length    string        // empty: unknown
	Wave      template.HTML // empty: no worker has drawn it
	Sound     string        // address of its sound; empty: it cannot be heard here
	Exports   []choice
	Web       string // address of the recording elsewhere; empty: it is a file
}

// readEpisode reads the page of one episode.
func readEpisode(v *visit) (any, error) {
	id := v.PathValue("episode")
	e := episodePage{}
	if err := v.get(v.Context(), path("episodes", id), nil, &e.Episode); err != nil {
		return nil, err
	}
	v.title = e.Title
	var origin models.Origin
	if _, err := v.getOptional(v.Context(), path("origins", e.Origin), nil, &origin); err != nil {
		return nil, err
	}
	e.OriginURI = origin.URI
	var problems types.Page[catalog.Problem]
	if err := v.get(v.Context(), path("problems"), url.Values{"episode": {id}, "limit": {strconv.Itoa(episodeProblems)}}, &problems); err != nil {
		return nil, err
	}
	e.Problems = problems.Items
	found, err := v.readFound(id)
	if err != nil {
		return nil, err
	}
	e.Found, e.Total, e.Clips = found.rows, found.total, found.clips
	if v.page.Sound != nil {
		e.Sound = v.page.link("/archive/episodes/" + id + "/sound")
	}
	for _, x := range exports {
		e.Exports = append(e.Exports, choice{Name: x.name, Link: v.page.link("/archive/episodes/" + id + "/" + x.file)})
	}
	if models.IsWebURL(e.Media.URI) {
		e.Web = e.Media.URI
	}
	var wave models.Waveform
	there, err := v.getOptional(v.Context(), path("episodes", id, "waveform"), nil, &wave)
	if there && wave.Duration > 0 {
		e.Length = length(wave.Duration)
		e.Wave = waveform{wave, e.Found, e.Sound}.draw()
	}
	return e, err
}

// Hear is the address of the sound at a finding.
func (e episodePage) Hear(f foundClip) string { return f.hear(e.Sound) }

// foundClips is the findings of an episode.
type foundClips struct {
	rows         []foundClip
	total, clips int
}

// readFound reads the first findings of an episode in the order of time. Each clip has a colour, as far as they suffice.
func (v *visit) readFound(episode string) (all foundClips, err error) {
	var answer types.Page[catalog.Finding]
	if err := v.get(v.Context(), path("findings"), url.Values{"episode": {episode}, "limit": {strconv.Itoa(maxFound)}}, &answer); err != nil {
		return all, err
	}
	all.total = answer.Total
	colour, others := map[string]string{}, map[string]int{}
	for i, f := range answer.Items {
		if _, known := colour[f.ClipID]; !known {
			colour[f.ClipID] = colours()[len(colour)%waveColours]
			if len(colour) <= maxOthers {
				if others[f.ClipID], err = v.countFindings(f.ClipID); err != nil {
					return all, err
				}
			}
		}
		all.rows = append(all.rows, foundClip{Finding: f, Colour: colour[f.ClipID], Anchor: "f" + strconv.Itoa(i), Others: others[f.ClipID] - 1})
	}
	all.clips = len(colour)
	return all, nil
}

// countFindings counts the findings of a clip.
func (v *visit) countFindings(clip string) (int, error) {
	var answer types.Page[catalog.Finding]
	err := v.get(v.Context(), path("findings"), url.Values{"clip": {clip}, "limit": {"0"}}, &answer)
	return answer.Total, err
}
