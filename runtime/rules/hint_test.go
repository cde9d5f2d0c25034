package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// SEMANTICS 4.18.1, 4.18.3
func TestLoopExitsHoweverTheRunEnded(t *testing.T) {
	p := beginWith(t, rules.Config{Reminders: -1, Tools: []rules.Tool{tool("tidy", runtime.Rules{RequiredBeforeExit: true})}})
	p.stop()
	p.state(rules.RunIncomplete, "tidy")
	require.Equal(t, runtime.LoopExit, p.s.Hint("r", "tidy", rules.ResultRefused, false))
	require.Equal(t, runtime.LoopExit, p.s.Hint("closed", "tidy", rules.ResultRefused, false))
}
