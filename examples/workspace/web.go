package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
)

//go:embed pages
var pages embed.FS

// library is a web of a few pages with a search engine, on loopback.
type library struct {
	server *http.Server
	base   string // http://127.0.0.1:PORT
}

// openLibrary serves the pages until close.
func openLibrary() (*library, error) {
	site, err := fs.Sub(pages, "pages")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &library{base: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.Handle("/pages/", http.StripPrefix("/pages/", http.FileServerFS(site)))
	mux.HandleFunc("/search", func(w http.ResponseWriter, r *http.Request) { l.search(w, r, site) })
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go l.server.Serve(listener) //nolint:errcheck // ends with ErrServerClosed at close
	return l, nil
}

func (l *library) close() error { return l.server.Close() }

// hit is one result of the search engine.
type hit struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

var title = regexp.MustCompile(`<title>(.*?)</title>`)

// search answers with the pages that hold every word of q.
func (l *library) search(w http.ResponseWriter, r *http.Request, site fs.FS) {
	words := strings.Fields(strings.ToLower(r.URL.Query().Get("q")))
	names, err := fs.Glob(site, "*.html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	hits := []hit{}
	for _, name := range names {
		text, err := fs.ReadFile(site, name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if containsAll(strings.ToLower(string(text)), words) {
			m := title.FindSubmatch(text)
			hits = append(hits, hit{Title: html.UnescapeString(string(m[1])), URL: l.base + path.Join("/pages", name)})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(hits) //nolint:errcheck // the client went away
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return len(words) > 0
}

// WebSearch implements filetools.Handler.
func (w *tools) WebSearch(ctx context.Context, in *filetools.WebSearchInput) (*filetools.WebSearchOutput, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.web.base+"/search?q="+url.QueryEscape(in.Query), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the search engine answered %s", response.Status)
	}
	var hits []hit
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&hits); err != nil {
		return nil, err
	}
	out := &filetools.WebSearchOutput{Results: []filetools.WebSearchOutputResultsItem{}}
	for _, h := range hits[:min(int64(len(hits)), in.Limit)] {
		out.Results = append(out.Results, filetools.WebSearchOutputResultsItem{Title: h.Title, URL: h.URL})
	}
	return out, nil
}
