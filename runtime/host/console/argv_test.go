package console_test

import (
	"context"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// argvOf makes the arguments of a letter, and some more.
func argvOf(extra ...string) func(wire.Value) ([]string, error) {
	return func(in wire.Value) ([]string, error) {
		return append([]string{"tool", in.(*letter).To, in.(*letter).Text}, extra...), nil
	}
}

// withCommand adds a tool that is a command, which alice is asked about. Its pin is that of the declaration.
func withCommand(t *testing.T, pin string, argv func(wire.Value) ([]string, error)) func(*host.Config) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "tool")
	require.NoError(t, os.WriteFile(program, []byte("a program"), 0o700)) //nolint:gosec // a program
	spec := &runtime.Spec{
		Name: "git", Version: "1.0.0", Pin: pin, Effect: runtime.SideEffectWrite,
		Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways, Approvers: []string{"alice"}, AllowEdit: true},
		Command: &runtime.Command{Program: program, Form: runtime.FormLines, Stdin: "pin"},
	}
	return func(c *host.Config) {
		c.Runner = &runtimetest.FakeRunner{Script: func(*process.Job) runtimetest.Act { return runtimetest.Act{Out: "done"} }}
		c.Tools = append(c.Tools, runtime.NewDynamicCommandTool(spec, codec{}, codec{}, argv, func(in wire.Value) string { return in.(*letter).Pin }))
	}
}

// rowsOf returns the arguments that a page shows, each as it reads.
func rowsOf(p *page) (rows []string) {
	for _, m := range regexp.MustCompile(`<li><code>(.*)</code></li>`).FindAllStringSubmatch(p.text, -1) {
		rows = append(rows, html.UnescapeString(m[1]))
	}
	return rows
}

// forged is a value that tries to look like two arguments, or to end the list.
const forged = "x\"\n</code></li><li><code>\"--force\" \u202e\x1b[2J"

// forgedRow is how it is shown.
const forgedRow = `"x\"\n</code></li><li><code>\"--force\" \u{202E}\u001b[2J"`

// TestArgumentsOnPages: who answers a request, reviews an edit or looks at a call sees the arguments of its
// program, one a row, and no sensitive value.
// SEMANTICS 5.10.8
func TestArgumentsOnPages(t *testing.T) {
	r := startWith(t, withCommand(t, "p1", argvOf()))
	alice, eve := r.as("alice"), r.as("eve", "audit")
	id := r.ask("git", forged, "t")
	p := alice.get("/approvals/" + id)
	legible(t, p)
	assert.Equal(t, []string{`"tool"`, forgedRow, `"t"`}, rowsOf(p))
	assert.Contains(t, p.text, "with 2 arguments, in its folder, in the sandbox, without network.")
	assert.NotContains(t, p.text, secret)

	edit := `{"to":"ada","text":"two words","pin":"` + secret + `"}`
	p = alice.answer(id, "decision", "approve", "edit", edit)
	require.Equal(t, http.StatusOK, p.StatusCode)
	assert.Equal(t, []string{`"tool"`, `"ada"`, `"two words"`}, rowsOf(p), "the review shows the arguments of the edit")
	require.Equal(t, http.StatusSeeOther, alice.post("/approvals/"+id, hidden(p.text)).StatusCode)
	q, _ := r.Executor.Request(id)
	assert.Equal(t, runtime.Completed, r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), q.CallID).Kind)

	for _, path := range []string{"/approvals/" + id, "/calls/s/" + q.CallID} {
		p = eve.get(path)
		assert.Equal(t, []string{`"tool"`, `"ada"`, `"two words"`}, rowsOf(p), path)
		assert.NotContains(t, p.text, secret, path)
	}
	assert.Contains(t, p.text, "The digest of the arguments is the recorded one.")
	assert.NotContains(t, p.text, "The file of the program is another one now")

	ran := "/calls/s/" + q.CallID
	r.callAs("denied", "git", "<b>", "t")
	q = r.Executor.Requests()[len(r.Executor.Requests())-1]
	require.Equal(t, http.StatusSeeOther, alice.answer(q.ID, "decision", "deny").StatusCode)
	p = eve.get("/calls/s/denied")
	assert.Equal(t, []string{`"tool"`, `"<b>"`, `"t"`}, rowsOf(p))
	assert.Contains(t, p.text, "What it would have run")

	git, _, _ := r.Executor.Registry().Lookup("git")
	require.NoError(t, os.WriteFile(git.Spec().Command.Program, []byte("another program"), 0o700)) //nolint:gosec // a program
	assert.Contains(t, eve.get(ran).text, "The file of the program is another one now")
	assert.Empty(t, r.reported.String())
}

// TestArgumentsThatDiffer: arguments that may not be those of a call are on no page.
// SEMANTICS 5.10.8
func TestArgumentsThatDiffer(t *testing.T) {
	first := withCommand(t, "p1", argvOf())
	r := startWith(t, first)
	id := r.ask("git", "ada", "t")
	require.Equal(t, http.StatusSeeOther, r.as("alice").answer(id, "decision", "approve").StatusCode)
	q, _ := r.Executor.Request(id)
	require.Equal(t, runtime.Completed, r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Await(t.Context(), q.CallID).Kind)
	r.callAs("waits", "git", "ada", "t")
	require.NoError(t, r.Host.Close(context.Background()))

	second := withCommand(t, "p2", argvOf("--more"))
	later := startWith(t, func(c *host.Config) {
		second(c)
		c.Dir = r.dir
	})
	eve := later.as("eve", "audit")
	p := eve.get("/calls/s/" + q.CallID)
	assert.Empty(t, rowsOf(p))
	assert.Contains(t, p.text, "The recorded argv differs")
	p = eve.get("/calls/s/waits")
	assert.Empty(t, rowsOf(p))
	assert.Contains(t, p.text, "The declaration of the tool has changed since")
	p = eve.get("/approvals/" + id)
	assert.Empty(t, rowsOf(p))
	assert.Contains(t, p.text, "The recorded argv differs")
}
