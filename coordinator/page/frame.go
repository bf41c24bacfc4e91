package page

import (
	"bytes"
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/access"
)

// A view is one page: what it reads, and the template of its part below the navigation.
type view struct {
	pattern  string // of its path
	template string
	nav      string // its name in the navigation, or that of the page above it
	read     func(*visit) (any, error)
	still    bool // it is not updated, because reading it costs much
}

// A visit is one request for a view.
type visit struct {
	*http.Request
	source
	page *Page
	who  access.Identity
	now  time.Time
	// Title is that of the browser's tab, without the name of the program. read may set it.
	title string
	// status is that of the answer; 0: OK. read sets it if the page shows why something failed.
	status int
	// raw is set by read if nothing is redacted in what the page shows.
	raw bool
	// attention is what the health sentence is about; nil: the coordinator computes none.
	attention *models.AttentionReport
}

// param returns a parameter of the query.
func (v *visit) param(name string) string { return v.URL.Query().Get(name) }

// May reports whether the page offers this visitor an operation of the API.
func (v *visit) May(operation string) bool { return v.page.Actions && api.Allows(v.who, operation) }

// frame is what every page has around its view. The parts that change are in Main, which the stream of events sends.
type frame struct {
	Nav      []navItem
	Prefix   string
	Who      string // who is signed in
	Open     bool   // the coordinator authenticates no one
	Search   string // of the box at the top
	At       time.Time
	Fragment string // address of the view for the stream of events
	Title    string
	Main     template.HTML
}

// navItem is an entry of the navigation.
type navItem struct {
	Name, Path, Key string
	Here            bool
}

// navigation is the list of pages; Key is what follows g on the keyboard.
var navigation = []navItem{
	{Name: "Overview", Path: "/", Key: "o"}, {Name: "Tasks", Path: "/tasks", Key: "t"}, {Name: "Workers", Path: "/workers", Key: "w"},
	{Name: "Archive", Path: "/archive", Key: "a"}, {Name: "Visits", Path: "/visits", Key: "v"}, {Name: "Code", Path: "/code", Key: "c"},
	{Name: "Schedules", Path: "/schedules", Key: "s"}, {Name: "Spaces", Path: "/spaces", Key: "p"}, {Name: "Log", Path: "/log", Key: "l"},
}

// content is what the template "main" gets: the view, and what all views use.
type content struct {
	*visit
	View   any
	Title  string
	Now    time.Time
	Health health
}

// health is the state of the whole; its zero value is that it is not known.
type health struct {
	models.Health
	Known bool
}

// Class is the class of its mark.
func (h health) Class() string {
	switch {
	case h.Stops > 0:
		return "bad"
	case h.Degrades > 0:
		return "warn"
	}
	return "good"
}

func healthOf(r *models.AttentionReport) health {
	if r == nil {
		return health{}
	}
	return health{models.HealthOf(r.Items), true}
}

// newVisit returns the visit of a request.
func (p *Page) newVisit(r *http.Request) *visit {
	who := access.Of(r.Context())
	return &visit{Request: r, source: source{p.API, r}, page: p, who: who, now: time.Now()}
}

// render reads a view and renders its part of the page.
func (p *Page) render(w view, r *http.Request) (shown rendered, err error) {
	v := p.newVisit(r)
	var report models.AttentionReport
	if there, err := v.getOptional(r.Context(), path("attention"), nil, &report); err != nil {
		return shown, err
	} else if there {
		v.attention = &report
	}
	v.title = w.nav
	body, err := w.read(v)
	if err != nil {
		return shown, err
	}
	c := content{visit: v, View: body, Title: v.title, Now: v.now, Health: healthOf(v.attention)}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, "main", struct {
		content
		Template string
	}{c, w.template}); err != nil {
		return shown, err
	}
	html := b.String()
	if !v.raw {
		html = models.Redact(html)
	}
	return rendered{live: !w.still, at: v.now, title: v.title, html: html, status: cmp.Or(v.status, http.StatusOK), attention: c.Health.Stops + c.Health.Degrades}, nil
}

// serveView serves a whole page, whose view is kept for other visitors.
func (p *Page) serveView(w view) http.HandlerFunc { return p.serve(w, p.cached) }

// serveNow serves a whole page that is rendered for this request only.
func (p *Page) serveNow(w view) http.HandlerFunc { return p.serve(w, p.render) }

func (p *Page) serve(w view, render func(view, *http.Request) (rendered, error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		shown, err := render(w, r)
		if err != nil {
			p.fail(rw, r, w.nav, err)
			return
		}
		if only, _ := r.Context().Value(fragmentKey{}).(*rendered); only != nil {
			*only = shown
			return
		}
		p.writePage(rw, r, shown.status, w.nav, shown)
	}
}

// writePage writes a view in its frame.
func (p *Page) writePage(w http.ResponseWriter, r *http.Request, status int, nav string, shown rendered) {
	who := access.Of(r.Context())
	query := r.URL.Query()
	f := frame{Prefix: p.Prefix, Search: query.Get("text"), At: shown.at, Title: shown.title, Main: template.HTML(shown.html)}
	if f.At.IsZero() {
		f.At = time.Now()
	}
	if who.ID != "" && who.ID != access.Everybody.ID {
		f.Who = who.String()
	} else {
		f.Open = true
	}
	for _, n := range navigation {
		n.Here = n.Name == nav
		if n.Path != "/code" || p.Code != nil {
			f.Nav = append(f.Nav, n)
		}
	}
	did := didWords[query.Get("did")]
	if shown.live {
		query.Del("did")
		f.Fragment = (&url.URL{Path: r.URL.Path, RawQuery: query.Encode()}).String()
	}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, "frame", struct {
		frame
		Did string
	}{f, did}); err != nil {
		p.Log.Error("dashboard: render", "error", err)
		http.Error(w, "The page cannot be rendered. See the coordinator's log.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the visitor may be gone
}

// fail shows an error in the frame: that of the API with its status, any other one as the coordinator's.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, nav string, err error) {
	status, text := http.StatusServiceUnavailable, "The coordinator cannot read its state. See its log."
	var refused *problem
	switch {
	case r.Context().Err() != nil:
		return // the visitor is gone
	case errors.As(err, &refused):
		status, text = refused.Status, sentence(refused.Error())
	default:
		p.Log.Error("dashboard: no page", "path", r.URL.Path, "error", err)
	}
	if f, _ := r.Context().Value(fragmentKey{}).(*rendered); f != nil {
		f.gone = status == http.StatusNotFound
		return
	}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, "refused", struct{ Status, Text, Back string }{http.StatusText(status), models.Redact(text), p.Prefix + back(r)}); err != nil {
		p.Log.Error("dashboard: render", "error", err)
	}
	p.writePage(w, r, status, nav, rendered{title: http.StatusText(status), html: b.String()})
}

// sentence returns a text that begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// link returns the address of a page with a query of names and values; empty values are left out.
func (p *Page) link(path string, query ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		if query[i+1] != "" {
			values.Set(query[i], query[i+1])
		}
	}
	address := p.Prefix + (&url.URL{Path: path}).EscapedPath()
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}
