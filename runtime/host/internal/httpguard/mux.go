package httpguard

import "net/http"

// A Mux tells requests that none of its patterns matches in the form of a Problem.
type Mux struct{ *http.ServeMux }

// ServeHTTP passes a request on to the handler of its pattern.
func (m Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, pattern := m.Handler(r)
	if pattern != "" {
		m.ServeMux.ServeHTTP(w, r)
		return
	}
	said := unsaid{header: http.Header{}}
	h.ServeHTTP(&said, r)
	code := NotFound
	if said.status == http.StatusMethodNotAllowed {
		code = MethodNotAllowed
		w.Header()["Allow"] = said.header["Allow"]
	}
	ProblemOf(code, "").Write(w)
}

// unsaid keeps the status and the headers of an answer that is not sent.
type unsaid struct {
	header http.Header
	status int
}

func (u *unsaid) Header() http.Header         { return u.header }
func (u *unsaid) WriteHeader(status int)      { u.status = status }
func (u *unsaid) Write(b []byte) (int, error) { return len(b), nil }
