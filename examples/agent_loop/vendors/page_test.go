package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// before and after make a function of a block of a page.
const before = `package page

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	ambitanthropic "github.com/ambit-tools/ambit/runtime/models/anthropic"
	ambitgenai "github.com/ambit-tools/ambit/runtime/models/genai"
	ambitopenai "github.com/ambit-tools/ambit/runtime/models/openai"
)

var (
	_ anthropic.Client
	_ openai.Client
	_ responses.Response
	_ models.Loop
	_ = ambitanthropic.New
	_ = ambitgenai.New
	_ = ambitopenai.New
)

func block(ctx context.Context, executor *engine.Executor, run *engine.Run, client *genai.Client) error {
	status, err := engine.RunStatus{}, error(nil)
	{
		BLOCK
		_, _, _ = model, status, err
	}
	_, _ = status, err
	return nil
}
`

// TestPageCompiles: the program of the README builds. Those of docs/models.md are what "ambit init --model"
// writes, which the modules of the providers run.
func TestPageCompiles(t *testing.T) {
	var all []string
	for _, page := range []string{"README.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(m[1], "model, err := ambit") {
				all = append(all, m[1])
			}
		}
	}
	if len(all) != 1 {
		t.Fatalf("the README has %d programs", len(all))
	}
	for i, block := range all {
		dir, err := os.MkdirTemp(".", "page")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.WriteFile(filepath.Join(dir, "page.go"), []byte(strings.Replace(before, "BLOCK", block, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "./"+dir).CombinedOutput(); err != nil {
			t.Errorf("program %d: %v\n%s\n%s", i, err, out, block)
		}
	}
}
