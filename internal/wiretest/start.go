package wiretest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// start is what the model of a new application says.
var start = []Step{
	Calls("note_write", `{"title":"Food","text":"bread"}`, "note_read", `{"title":"Nothing"}`),
	{Text: "It is noted."},
}

// Start writes an application with "ambit init --model", from a package three folders below the
// root of this module, and lets it talk with a server. The server plays the provider by write. env are
// variables of the program; SERVER in them is the URL of the server.
func Start(t *testing.T, provider string, write func(n int, s Step) string, env ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds an application")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(t.TempDir(), "app")
	run := func(dir string, env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOPROXY=off", "GOWORK=off"), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run(root, nil, "go", "run", "./cmd/ambit", "init", "--model", provider, "--local", root, app)
	var bodies []string
	for n, s := range start {
		bodies = append(bodies, write(n, s))
	}
	server := Serve(t, bodies...)
	for i, e := range env {
		env[i] = strings.Replace(e, "SERVER", server.URL, 1)
	}
	run(app, nil, "go", "vet", "-tags", "model", "./agent")
	out := run(app, env, "go", "run", "-tags", "model", "./agent", "Note that we need bread.")
	for _, want := range []string{
		`user: "Note that we need bread."`, `note_write {"outcome":"completed","output":{"size":5}}`,
		`note_read {"outcome":"failed","reason":"handler_error"`, `model: "It is noted."`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the program did not say %s:\n%s", want, out)
		}
	}
	if len(server.Sent) != 2 || !strings.Contains(server.Sent[0], "note_write") {
		t.Errorf("the provider was asked %q", server.Sent)
	}
}
