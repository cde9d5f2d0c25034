package console

import (
	"errors"
	"mime"
	"net/http"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// policy is what a browser may do with a page: nothing that is not from this host, and no frame of it in
// a page of another site.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ambit"

// maxForm is how long a form may be, in bytes.
const maxForm = 64 << 10

// setHeaders sets what every answer has. The host sets nosniff and no-referrer.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// admit reads the query of a request, and the form of one that changes something, which it counts. The guard of the host has
// refused those of other sites. A parameter or field that comes twice is refused.
func (p *pages) admit(q *request) error {
	var refused *httpguard.Problem
	if q.query, refused = httpguard.Query(q.Request); refused != nil {
		return refusal{refused}
	}
	if q.Method != http.MethodPost {
		return nil
	}
	if !p.limit.Take(q.by.ID) {
		q.w.Header().Set("Retry-After", "1")
		return problem(httpguard.TooManyRequests, "")
	}
	if kind, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return problem(httpguard.BadRequest, "a form is wanted, of the type application/x-www-form-urlencoded")
	}
	q.Body = http.MaxBytesReader(q.w, q.Body, maxForm)
	err := q.ParseForm()
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return problem(httpguard.TooLarge, "a form has at most 64 KiB")
	}
	if err != nil {
		return problem(httpguard.BadRequest, "the form cannot be read")
	}
	if refused := httpguard.Once(q.PostForm, "where"); refused != nil {
		return refusal{refused}
	}
	return nil
}
