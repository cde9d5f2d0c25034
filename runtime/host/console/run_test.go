package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestRun: the calls of a run are a picture, and a table with the same figures, for who may audit them.
func TestRun(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	run, err := r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r/1"})
	require.NoError(t, err)
	turn := run.Turn(engine.TurnConfig{})
	require.Equal(t, runtime.Completed, r.execute(turn, "c1", "note", "ada", "x").Kind)
	require.Equal(t, runtime.Pending, r.execute(turn, "c2", "send", "ada", "x").Kind)
	require.Equal(t, runtime.Completed, r.execute(run.Child(engine.RunConfig{ID: "helper"}).Turn(engine.TurnConfig{}), "c3", "note", "ada", "x").Kind)
	p := eve.get("/runs/r%2F1")
	require.Equal(t, http.StatusOK, p.StatusCode)
	assert.Equal(t, 3, strings.Count(p.text, "<svg "))
	for _, part := range []string{
		`<rect class="handler"`, `<rect class="consent"`, `class="child"><span class="what">helper: note`, "note began after 0 µs", "in 1 attempt, completed", "waited ",
		`href="/calls/s/c1"`, `data-label="Attempts">1<`, `href="/calls?run=r%2F1&amp;session=s"`,
	} {
		assert.Contains(t, p.text, part)
	}
	assert.Less(t, strings.Index(p.text, "/calls/s/c1"), strings.Index(p.text, "/calls/s/c2"), "the oldest first")
	assert.NotContains(t, p.text, secret)
	assert.Equal(t, http.StatusForbidden, r.as("alice").get("/runs/r%2F1").StatusCode)
	assert.Equal(t, http.StatusForbidden, eve.get("/runs/none").StatusCode, "whether there is one is not told")
	assert.Equal(t, http.StatusBadRequest, eve.get("/runs/r%2F1?before=x").StatusCode)
	assert.Contains(t, eve.get("/calls/s/c1").text, `href="/runs/r%2F1?session=s"`)

	other, err := r.Executor.Session(engine.SessionConfig{ID: "s2", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r/1"})
	require.NoError(t, err)
	r.execute(other.Turn(engine.TurnConfig{}), "d1", "note", "ada", "x")
	p = eve.get("/runs/r%2F1")
	assert.Contains(t, p.text, `href="/runs/r%2F1?session=s2"`)
	assert.NotContains(t, p.text, "<svg ")
	assert.Equal(t, 1, strings.Count(eve.get("/runs/r%2F1?session=s2").text, "<svg "))
}

// TestCallFilters: the list of calls has what its address asks for.
func TestCallFilters(t *testing.T) {
	r := start(t)
	eve := r.as("eve", "audit")
	r.callAs("c1", "note", "ada", "x")
	r.callAs("c2", "seal", "ada", "x")
	for query, want := range map[string][]string{
		"outcome=completed": {"c1"}, "outcome=denied": {"c2"}, "outcome=failed": nil, "outcome=denied&tool=note": nil,
		"since=2000-01-01": {"c1", "c2"}, "until=2000-01-01T00:00": nil, "since=2200-01-01": nil,
		"until=" + time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04"): {"c1", "c2"},
	} {
		p := eve.get("/calls?" + query)
		require.Equal(t, http.StatusOK, p.StatusCode, query)
		for _, id := range []string{"c1", "c2"} {
			assert.Equal(t, strings.Contains(strings.Join(want, " "), id), strings.Contains(p.text, `href="/calls/s/`+id+`"`), "%s in %s", id, query)
		}
	}
	for _, query := range []string{"outcome=x", "since=soon", "since=2999-01-01", "until=1"} {
		assert.Equal(t, http.StatusBadRequest, eve.get("/calls?"+query).StatusCode, query)
	}
}
