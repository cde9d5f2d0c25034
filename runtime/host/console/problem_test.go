package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// TestWhatIsReported: the application hears of a page that could not be made, and not of a person who has gone on
// to another page before it was.
func TestWhatIsReported(t *testing.T) {
	var reported []error
	p := &pages{report: func(err error) { reported = append(reported, err) }}
	broken := errors.New("the disk is gone")
	assert.Equal(t, httpguard.Failed, p.refusalOf(fmt.Errorf("read: %w", context.Canceled)).Code)
	assert.Equal(t, httpguard.Failed, p.refusalOf(broken).Code)
	p.tell(fmt.Errorf("the calls before: %w", context.Canceled))
	assert.Equal(t, []error{broken}, reported)
}

// TestATemplateThatFails: nothing of a page is sent when its template fails half-way.
func TestATemplateThatFails(t *testing.T) {
	var reported []error
	p := &pages{report: func(err error) { reported = append(reported, err) }}
	for _, name := range []string{"approvals", "call", "health", "run", "audit", "grants"} {
		w := httptest.NewRecorder()
		q := &request{w: w, Request: httptest.NewRequest(http.MethodGet, "/", nil)}
		reported = nil
		p.render(q, http.StatusOK, name, "The title", struct{ Nonsense int }{7}) // the head is done, and then a member is wanted
		assert.Equal(t, http.StatusInternalServerError, w.Code, name)
		assert.Equal(t, "application/problem+json", w.Header().Get("Content-Type"), name)
		assert.NotContains(t, w.Body.String(), "The title", name)
		assert.NotContains(t, w.Body.String(), "Nonsense", name)
		require.Len(t, reported, 1, name)
		assert.ErrorContains(t, reported[0], "can't evaluate field", name)
	}
}
