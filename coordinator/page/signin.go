package page

import (
	"bytes"
	"net/http"
)

// SignIn writes the page that asks for a token. problem tells what was wrong with the last one; empty: nothing.
func (p *Page) SignIn(w http.ResponseWriter, status int, problem string) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, "signin.html", problem); err != nil {
		http.Error(w, "The page cannot be rendered.", http.StatusInternalServerError)
		return
	}
	setHeaders(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the visitor may be gone
}
