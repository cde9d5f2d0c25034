package httpguard

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// Query reads the query of a request. What cannot be read is refused, and what [Once] refuses.
func Query(r *http.Request, many ...string) (url.Values, *Problem) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, ProblemOf(BadRequest, "the query cannot be read")
	}
	return values, Once(values, many...)
}

// Once refuses a value that comes twice, but for those of many: two readers of one query or form must not find two answers
// in it.
func Once(values url.Values, many ...string) *Problem {
	for name, all := range values {
		if len(all) > 1 && !slices.Contains(many, name) {
			return ProblemOf(BadRequest, wording.Quote(name)+" comes twice")
		}
	}
	return nil
}
