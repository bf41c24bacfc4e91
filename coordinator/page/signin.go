package page

import (
	"bytes"
	"html/template"
	"net/http"
)

var signInPage = template.Must(template.New("signin.html").ParseFS(files, "signin.html"))

// SignIn writes the page that asks for a token. problem tells what was wrong with the last one; empty: nothing.
func SignIn(w http.ResponseWriter, _ *http.Request, problem string) {
	var b bytes.Buffer
	if err := signInPage.Execute(&b, problem); err != nil {
		http.Error(w, "The page cannot be rendered.", http.StatusInternalServerError)
		return
	}
	setHeaders(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write(b.Bytes()) // the visitor may be gone
}
