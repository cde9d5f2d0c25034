package console_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestAttempts: the page of a call and the picture of its run have each run of its handler, and how long it took.
func TestAttempts(t *testing.T) {
	var runs atomic.Int32
	flaky := runtime.NewDynamicTool(&runtime.Spec{
		Name: "flaky", Idempotent: true, Retry: &runtime.Retry{Max: 3, Initial: time.Millisecond, Cap: time.Millisecond},
	}, codec{}, func(_ context.Context, in wire.Value) (wire.Value, error) {
		if runs.Add(1) < 3 {
			return nil, runtime.Transient(errors.New("the line is busy"))
		}
		return in, nil
	})
	r := startWith(t, func(c *host.Config) { c.Tools = append(c.Tools, flaky) })
	require.Equal(t, runtime.Completed, r.callAs("c1", "flaky", "ada", "x").Kind)
	eve := r.as("eve", "audit")
	text := eve.get("/calls/s/c1").text
	assert.Contains(t, text, "<h2>Attempts</h2>")
	assert.Equal(t, 3, strings.Count(text, "<li>began after "))
	assert.Equal(t, 3, strings.Count(text, ", took "))
	assert.Equal(t, 2, strings.Count(text, "; then it was tried again"))
	assert.Contains(t, text, "attempt 3")
	run := eve.get("/runs/s%2F1").text
	assert.Equal(t, 3, strings.Count(run, `<rect class="handler"`), "each attempt is a bar")
	assert.Contains(t, run, `data-label="Attempts">3<`)
	require.Equal(t, runtime.Denied, r.callAs("c2", "seal", "ada", "too early").Kind)
	assert.NotContains(t, eve.get("/calls/s/c2").text, "<h2>Attempts</h2>", "its handler did not run")
}

// TestTheModelsIDOfACall: the page of a call has the id that the provider of the model gave it, as text.
//
// SEMANTICS 1.4.11
func TestTheModelsIDOfACall(t *testing.T) {
	r := start(t)
	r.turn().Execute(t.Context(), runtime.Call{ID: "c1", Tool: "nosuch", Input: []byte(`{}`), ProviderID: "<b>call_0"})
	assert.Contains(t, r.as("eve", "audit").get("/calls/s/c1").text, "<dt>Id of the model</dt><dd>&lt;b&gt;call_0</dd>")
	require.Equal(t, runtime.Completed, r.callAs("c2", "note", "ada", "x").Kind)
	assert.NotContains(t, r.as("eve", "audit").get("/calls/s/c2").text, "Id of the model")
}

// TestADenialIsExplained: the page of a call that a policy denies has each rule with its message and its place, the
// reason, and what the policy decided.
func TestADenialIsExplained(t *testing.T) {
	r := startWith(t, func(c *host.Config) {
		c.Policy = runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Effect: runtime.EffectDeny, Revision: "rev-7", Denials: []runtime.Denial{
				{Code: "no_letters", Message: "No letters <today>.", At: "letters.rego:12"}, {Code: "no_ink", At: "ink.rego:3"},
			}}, nil
		})
	})
	require.Equal(t, runtime.Denied, r.callAs("c1", "note", "ada", "x").Kind)
	text := r.as("eve", "audit").get("/calls/s/c1").text
	for _, part := range []string{
		"<h2>Denied by</h2>", "<code>no_letters</code>: No letters &lt;today&gt;.", `<span class="fine">(letters.rego:12)</span>`, "<code>no_ink</code>", "(ink.rego:3)",
		"</span>denied</span> <code>policy_denied</code>", "<summary>What the policy decided</summary>", "&#34;code&#34;: &#34;no_letters&#34;", "<code>rev-7</code>",
	} {
		assert.Contains(t, text, part)
	}
}
