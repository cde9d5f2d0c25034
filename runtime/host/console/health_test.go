package console_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"regexp"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var definition = regexp.MustCompile(`<dt>([^<]*)</dt><dd>([^<]*)</dd>`)

// facts returns what the page of health says, by name.
func (b *browser) facts() (facts map[string]string, text string) {
	b.Helper()
	p := b.get("/health")
	require.Equal(b, http.StatusOK, p.StatusCode)
	facts = map[string]string{}
	for _, m := range definition.FindAllStringSubmatch(p.text, -1) {
		facts[m[1]] = m[2]
	}
	return facts, p.text
}

// TestHealth: people get a page, and probes what they got before.
func TestHealth(t *testing.T) {
	r := start(t)
	facts, text := r.as("mallory").facts()
	assert.Contains(t, text, "Calls can be recorded.")
	assert.Contains(t, text, "<p>None.</p>")
	machine, _ := os.Hostname()
	assert.Equal(t, strconv.Itoa(os.Getpid())+" on "+machine, facts["Process"])
	const moment = "2006-01-02 15:04:05 UTC"
	since, err := time.Parse(moment, facts["Since"])
	require.NoError(t, err)
	renewed, err := time.Parse(moment, facts["Renewed last"])
	require.NoError(t, err)
	assert.False(t, renewed.Before(since))
	assert.Equal(t, "held until "+renewed.Add(engine.DefaultStale).Format(moment)+", unless it is renewed before", facts["Lease"])
	for name, want := range map[string]string{
		"Takes entries": "yes", "Verified": "not since the application was started", "Waiting for an answer": "0",
		"Tools about which the policy is not asked, because it hangs": "none", "Handlers that outlived their call": "0",
	} {
		assert.Equal(t, want, facts[name], name)
	}
	r.ask("send", "ada", "x")
	facts, _ = r.as("mallory").facts()
	assert.Equal(t, "1", facts["Waiting for an answer"])
	assert.Equal(t, http.StatusSeeOther, r.as("eve", "audit").post("/audit/verify", map[string][]string{}).StatusCode)
	facts, _ = r.as("mallory").facts()
	assert.Contains(t, facts["Verified"], "Nothing is wrong, and what was anchored")

	assert.Equal(t, http.StatusUnauthorized, r.browser("").get("/health").StatusCode)
	p := r.browser("").get("/health", "Accept", "*/*")
	assert.Equal(t, http.StatusOK, p.StatusCode)
	assert.JSONEq(t, `{"status":"ok"}`, p.text)
}

// TestHealthOfTools: calls that wait for a slot are counted by tool, and the tools about which the policy hangs are
// named.
func TestHealthOfTools(t *testing.T) {
	release := make(chan struct{})
	end := sync.OnceFunc(func() { close(release) })
	var r *rig
	slow := runtime.NewDynamicTool(&runtime.Spec{Name: "slow", Limits: runtime.Limits{Concurrency: 1}}, codec{}, func(_ context.Context, in wire.Value) (wire.Value, error) {
		<-release
		return in, nil
	})
	hang := runtime.NewDynamicTool(&runtime.Spec{Name: "hang"}, codec{}, func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil })
	r = startWith(t, func(c *host.Config) {
		c.Tools = append(c.Tools, slow, hang)
		c.Options = append(c.Options, engine.WithPolicyTimeout(100*time.Millisecond))
		c.Policy = runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.Tool.Name == "hang" {
				<-release
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
	})
	var wait sync.WaitGroup
	t.Cleanup(func() { end(); wait.Wait() })
	turn := r.turn()
	for i := range 3 {
		wait.Go(func() {
			turn.Execute(context.Background(), runtime.Call{ID: "slow" + strconv.Itoa(i), Tool: "slow", Input: []byte(`{"to":"ada"}`)})
		})
	}
	for range 2 {
		require.Equal(t, runtime.Denied, r.call("hang", "ada", "x").Kind)
	}
	viewer := r.as("mallory")
	for r.Executor.Stats().Queued < 2 { // the calls are on their way
		goruntime.Gosched()
	}
	facts, text := viewer.facts()
	assert.Equal(t, "2", facts["slow"])
	assert.Equal(t, "2", facts["Queued for a slot of their tool"])
	assert.Equal(t, "hang", facts["Tools about which the policy is not asked, because it hangs"])
	assert.Equal(t, "2", facts["Evaluations of the policy that do not end"])
	assert.Less(t, strings.Index(text, "by tool"), strings.Index(text, "<dt>slow</dt>"))
	end()
	wait.Wait()
	facts, _ = viewer.facts()
	assert.NotContains(t, facts, "slow")
}

// TestHealthOfALostStore: the page says in words that another process has the store, before and after a write has
// found that out.
func TestHealthOfALostStore(t *testing.T) {
	r := start(t)
	viewer := r.as("mallory")
	r.closes = assert.Error
	turn := r.turn()
	r.damage("UPDATE owner SET epoch = epoch + 1, pid = 7, host = 'elsewhere'")
	for range 2 {
		facts, text := viewer.facts()
		assert.Equal(t, "7 on elsewhere", facts["Process"])
		assert.Equal(t, "lost: the owner of epoch 2 has taken over from this process", facts["Lease"])
		assert.Equal(t, "no: another process writes it", facts["Takes entries"])
		assert.Contains(t, text, "Calls cannot be recorded, and none runs.")
		assert.NotContains(t, text, "may not be written any more", "no text of an error")
		require.NotEqual(t, runtime.Completed, r.execute(turn, rand.Text(), "note", "ada", "x").Kind)
	}
}
