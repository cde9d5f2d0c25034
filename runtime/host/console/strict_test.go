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

// TestQueriesAreReadStrictly: a query in which two readers could find two answers filters nothing, for pages and for forms.
func TestQueriesAreReadStrictly(t *testing.T) {
	r := start(t)
	b := r.as("alice")
	asked := r.ask("send", "ada", "hello")
	for _, path := range []string{"/?session=a&session=b", "/calls?tool=send&tool=note", "/audit?kind=a&kind=b", "/grants?after=1&after=2", "/approvals/" + asked + "?x=1&x=2"} {
		got := b.get(path)
		assert.Equal(t, http.StatusBadRequest, got.StatusCode, path)
		assert.Contains(t, got.text, "comes twice", path)
	}
	assert.Contains(t, b.get("/calls?tool=%zz").text, "the query cannot be read")
	assert.Equal(t, http.StatusOK, b.get("/calls?tool=send").StatusCode)
}
