package page

import (
	"net/http"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// Sound serves the sound of episodes (coordinator/sound).
type Sound interface {
	Serve(w http.ResponseWriter, r *http.Request, episode string) error
}

// listen serves the sound of an episode to those who may see the episode. If it cannot be played, the answer is a page
// that tells why.
func (p *Page) listen(w http.ResponseWriter, r *http.Request) {
	v, id := p.newVisit(r), r.PathValue("episode")
	var e models.Episode
	err := v.get(r.Context(), path("episodes", id), nil, &e)
	if err == nil {
		err = p.Sound.Serve(&patientWriter{w, p.WriteTimeout}, r, id)
		if err != nil {
			err = refusal(fault.Of(err).HTTPStatus, "%s cannot be played: %s", e.Title, wording.WithoutKind(err.Error()))
		}
	}
	if err != nil {
		p.fail(w, r, "Archive", err)
	}
}

// patientWriter gives each write a deadline of its own, because a player reads an hour of sound in pieces.
type patientWriter struct {
	http.ResponseWriter
	timeout time.Duration
}

// Write writes a piece. It fails if the visitor does not read it within the time.
func (w *patientWriter) Write(piece []byte) (int, error) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.timeout)) // a test's recorder has none
	return w.ResponseWriter.Write(piece)
}
