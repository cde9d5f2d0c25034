package main

import (
	"fmt"
	"testing"

	"github.com/ambit-tools/ambit/examples/agent_loop/agent"
)

// TestChoose: the key that is there says whose model it is.
func TestChoose(t *testing.T) {
	exec, err := agent.Setup()
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"}
	for i, want := range []string{"*anthropic.Model", "*openai.Model", "*genai.Model"} {
		for _, key := range keys {
			t.Setenv(key, "")
		}
		t.Setenv("GOOGLE_API_KEY", "")
		t.Setenv(keys[i], "none")
		model, err := choose(t.Context(), "", exec.Registry())
		if err != nil || fmt.Sprintf("%T", model) != want {
			t.Errorf("%s: %T, want %s: %v", keys[i], model, want, err)
		}
	}
	t.Setenv("GEMINI_API_KEY", "")
	if _, err := choose(t.Context(), "", exec.Registry()); err == nil {
		t.Error("without a key there is a model")
	}
}
