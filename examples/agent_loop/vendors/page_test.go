package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/internal/wiretest"
)

// answers are what the provider says to the program of the README.
var answers = []string{
	`{"id":"msg_0","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1},
		"content":[{"type":"tool_use","id":"toolu_0","name":"refund","input":{"order":"AB-1234","cents":1250}}]}`,
	`{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1},
		"content":[{"type":"text","text":"12.50 are paid back."}]}`,
}

// TestStartProgram builds the program of docs/start.md with the declaration, the handler and the policy
// of the README, and runs it with a server that plays the provider. The functions of docs/models.md are what
// "ambit init --model" writes, which the modules of the providers run.
func TestStartProgram(t *testing.T) {
	var text []byte
	for _, page := range []string{"../../../README.md", "../../../docs/start.md"} {
		one, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, one...)
	}
	block := func(language, with string) string {
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], with) {
				return m[1]
			}
		}
		t.Fatalf("the pages have no %s with %s", language, with)
		return ""
	}
	program := block("go", "func main() {")
	if _, main, _ := strings.Cut(program, "func main() {\n"); strings.Count(main[:strings.Index(main, "\n}\n")], "\n") > 20 {
		t.Errorf("more than 20 lines:\n%s", program)
	}
	dir, err := os.MkdirTemp(".", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, text := range map[string]string{
		"shop/tools.yaml": block("yaml", "refund:"), "shop/policy/refund.rego": block("rego", "refund"),
		"refund.go": "package main\n\nimport (\n\t\"context\"\n\n\t\"example.com/shop/shop\"\n)\n\n" + block("go", "type refunds struct"), "main.go": program,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		text = strings.ReplaceAll(text, "example.com/shop", "github.com/ambit-tools/ambit/examples/agent_loop/vendors/"+filepath.Base(dir))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := wiretest.Serve(t, answers...)
	declaration, err := filepath.Abs(filepath.Join(dir, "shop", "tools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL="+server.URL)
	command(t, "../../..", env, "run", "./cmd/ambit", "generate", declaration)
	out := command(t, dir, env, "run", ".")
	if !strings.Contains(out, "12.50 are paid back.") {
		t.Error(out)
	}
	if len(server.Sent) != 2 || !strings.Contains(server.Sent[1], `\"receipt\":\"R-AB-1234\"`) {
		t.Errorf("the provider was asked %q", server.Sent)
	}
}

// command runs the go command in a folder, and returns what it prints.
func command(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
