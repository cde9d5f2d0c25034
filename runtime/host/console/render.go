package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/internal/legible"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"count": catalog.Count, "short": short, "some": some}).ParseFS(templateFiles, "templates/*.html"))

// A layout is what a template gets.
type layout struct {
	Title string // of the page
	App   string // of the application
	Who   runtime.Actor
	Link  links
	Menu  []menuItem
	// CanLogOut says that a cookie let the viewer in.
	CanLogOut bool
	Data      any
}

// A menuItem is a page that the menu leads to.
type menuItem struct {
	Name, Path string
	Here       bool
}

// menu lists the pages. Each shows the viewer what the operator policy lets the viewer see, which may be nothing.
func (p *pages) menu(q *request) []menuItem {
	here := func(name, path string) menuItem { return menuItem{name, path, q.URL.Path == path} }
	return []menuItem{
		here("Approvals", p.link.Home()), here("Ended", p.link.Ended()), here("Calls", p.link.Calls()), here("Grants", p.link.Grants()), here("Tools", p.link.Tools()),
		here("Audit", p.link.Audit()), here("Health", p.link.Health()),
	}
}

// render sends a page. The page is made before anything is sent, so that a template that fails is an
// error, and is made legible as a whole: no value of it can be forgotten.
func (p *pages) render(q *request, status int, name, title string, data any) {
	var page bytes.Buffer
	err := templates.ExecuteTemplate(&page, name+".html", &layout{
		Title: title, App: p.title, Who: q.by, Link: p.link, Menu: p.menu(q), CanLogOut: q.by.Method == runtime.MethodOwner || q.by.Method == runtime.MethodUser, Data: data,
	})
	if err != nil {
		p.tell(err)
		httpguard.ProblemOf(httpguard.Failed, "").Write(q.w)
		return
	}
	text := legible.Block(page.String())
	h := q.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	q.w.WriteHeader(status)
	_, _ = q.w.Write([]byte(text)) // the client is gone otherwise
}

// writeJSON sends a program what it asked for.
func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // the client is gone otherwise
	return nil
}

// writeText sends a text that is not trusted.
func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(legible.Block(text))) // the client is gone otherwise
}
