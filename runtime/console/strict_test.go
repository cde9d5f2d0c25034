package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFormsAreReadStrictly: a form in which two readers could find two answers answers nothing, and the problem
// names the field.
func TestFormsAreReadStrictly(t *testing.T) {
	r := start(t)
	b := r.as("alice")
	asked := r.ask("send", "ada", "hello")
	for _, row := range []struct {
		fields []string
		detail string // which field comes twice
	}{
		{[]string{"decision", "deny", "decision", "approve"}, "decision"},
		{[]string{"decision", "approve", "grant", "once", "grant", "session"}, "grant"},
		{[]string{"decision", "deny", "binding", "x"}, "binding"},
	} {
		got := b.answer(asked, row.fields...)
		assert.Equal(t, http.StatusBadRequest, got.StatusCode, row.fields)
		assert.Contains(t, got.text, "&#34;"+row.detail+"&#34; comes twice")
	}
	assert.Equal(t, http.StatusBadRequest, b.answer(asked, "Decision", "approve").StatusCode, "names are exact")
	assert.Len(t, r.Executor.Requests(), 1)
}
