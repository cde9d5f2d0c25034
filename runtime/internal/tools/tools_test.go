package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/jsonedit"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { battery.Main(m) }

// login is the input and the output of the tool of the tests. Its codec panics for the user "panic".
type login struct{ User, Password string }

var (
	loginRule    = wire.ObjectRule{Names: []string{"user", "password"}, Required: 1}
	userRule     = wire.StringRule{Has: wire.Max, Max: 40}
	passwordRule = wire.StringRule{Sensitive: true}
)

func (v *login) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "user":
		wire.ReadString(r, &v.User, &userRule)
	case "password":
		wire.ReadString(r, &v.Password, &passwordRule)
	}
	if v.User == "panic" {
		panic("oops")
	}
}

func (v *login) Walk(w wire.Visitor) {
	if v.User == "broken" {
		panic("broken")
	}
	wire.BeginObject(w, &loginRule)
	wire.Member(w, "user", &v.User, wire.WalkString, &userRule)
	wire.Member(w, "password", &v.Password, wire.WalkString, &passwordRule)
	wire.End(w)
}

// of returns the tool of the tests under a spec, which is the second of its registry.
func of(t *testing.T, spec *runtime.Spec, hooks ...any) *tools.Tool {
	t.Helper()
	spec.Name, spec.Version, spec.Effect = "login", "1.0.0", runtime.SideEffectWrite
	run := func(_ context.Context, in *login) (*login, error) { return in, nil }
	other := &runtime.Spec{Name: "first", Version: "1.0.0", Effect: runtime.SideEffectRead}
	reg, err := runtime.NewRegistry(runtime.NewTool(other, &loginRule, run), runtime.NewTool(spec, &loginRule, run))
	require.NoError(t, err)
	list := tools.Of(reg)
	require.Len(t, list, 2)
	for i := range list {
		require.Equal(t, i, list[i].Index)
		if list[i].Spec.Name == "login" {
			return &list[i]
		}
	}
	t.Fatal("the registry has lost the tool")
	return nil
}

// TestDefaults: what a declaration leaves out has a default, and an unknown tool has limits, too.
func TestDefaults(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	assert.Equal(t, 45*time.Second, tool.Deadline())
	assert.EqualValues(t, 1<<20, tool.OutputLimit())
	assert.Equal(t, 64<<10, tool.InputLimit())
	none := (*tools.Tool)(nil)
	assert.Equal(t, 64<<10, none.InputLimit())
	assert.False(t, none.Undoable() || none.OnlyReads() || none.MayRerun(1))
	tool = of(t, &runtime.Spec{Deadline: time.Second, Limits: runtime.Limits{Output: 7, Input: 5}})
	assert.Equal(t, time.Second, tool.Deadline())
	assert.EqualValues(t, 7, tool.OutputLimit())
	assert.Equal(t, 5, tool.InputLimit())
}

// TestRead: request_heartbeat is no argument, and must be a boolean.
func TestRead(t *testing.T) {
	tool := of(t, &runtime.Spec{Heartbeat: true})
	for _, c := range []struct {
		input     string
		heartbeat bool
		wrong     string
	}{
		{`{"user":"ann"}`, false, ""},
		{`{"user":"ann","request_heartbeat":true}`, true, ""},
		{`{"user":"ann","request_heartbeat":false}`, false, ""},
		{`{"user":"ann","request_heartbeat":1}`, false, "/request_heartbeat"},
		{`{"user":"ann","more":1}`, false, "/more"},
	} {
		in, violations, panicked := tool.Read([]byte(c.input))
		require.Nil(t, panicked, c.input)
		if c.wrong != "" {
			require.Len(t, violations, 1, c.input)
			assert.Equal(t, c.wrong, violations[0].Pointer)
			continue
		}
		require.Empty(t, violations, c.input)
		assert.Equal(t, &login{User: "ann"}, in.Args)
		assert.JSONEq(t, `{"user":"ann"}`, string(in.Text))
		assert.Equal(t, c.heartbeat, in.Heartbeat)
	}
	_, violations, _ := of(t, &runtime.Spec{}).Read([]byte(`{"user":"ann","request_heartbeat":true}`))
	assert.NotEmpty(t, violations, "the tool does not declare heartbeat")
}

// TestCodecPanics: the panic of a codec is returned with its stack, and comes out of nothing else.
func TestCodecPanics(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	text := []byte(`{"user":"panic"}`)
	_, _, panicked := tool.Read(text)
	require.NotNil(t, panicked)
	assert.Equal(t, "oops", panicked.Value)
	assert.Contains(t, string(panicked.Stack), "ReadMember")
	args, violations, panicked := tool.ReadArgs(text)
	assert.NotNil(t, panicked)
	assert.Nil(t, args)
	assert.Nil(t, violations)
	assert.Nil(t, tool.Canonical(text, false))
	assert.Nil(t, tool.Arguments(nil, text))
	assert.Nil(t, tool.Arguments(&login{User: "broken"}, nil))
}

// TestReadArgs: invalid arguments are no arguments.
func TestReadArgs(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	args, violations, _ := tool.ReadArgs([]byte(`{"user":"ann"}`))
	assert.Empty(t, violations)
	assert.Equal(t, &login{User: "ann"}, args)
	args, violations, _ = tool.ReadArgs([]byte(`{"user":1}`))
	assert.NotEmpty(t, violations)
	assert.Nil(t, args)
	assert.Equal(t, "7 bytes", tool.TooLarge(7)[0].Actual)
}

// TestCanonical: inputs that decode to the same value are the same, unless one asks to be continued.
func TestCanonical(t *testing.T) {
	tool := of(t, &runtime.Spec{Heartbeat: true})
	one := tool.Canonical([]byte(`{"user":"ann","password":"x"}`), false)
	require.NotNil(t, one)
	assert.Equal(t, one, tool.Canonical([]byte(` { "password" : "x", "user" : "\u0061nn" } `), false))
	assert.NotEqual(t, one, tool.Canonical([]byte(`{"user":"ann"}`), false))
	again := tool.Canonical([]byte(`{"user":"ann","password":"x","request_heartbeat":true}`), false)
	assert.NotEqual(t, one, again)
	assert.Equal(t, again, tool.Canonical([]byte(`{"user":"ann","password":"x"}`), true), "an earlier process knew it")
	assert.Nil(t, tool.Canonical([]byte(`{`), false))
}

// TestArguments: those that a call ran with come first.
func TestArguments(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	assert.JSONEq(t, `{"user":"bob","password":""}`, string(tool.Arguments(&login{User: "bob"}, []byte(`{"user":"ann"}`))))
	assert.JSONEq(t, `{"user":"ann"}`, string(tool.Arguments(nil, []byte(`{"user":"ann"}`))))
	assert.Nil(t, tool.Arguments(nil, []byte(`{"user":1}`)))
	assert.Nil(t, tools.JSON(nil))
	assert.True(t, tools.Equal(&login{User: "a"}, &login{User: "a"}))
	assert.False(t, tools.Equal(&login{User: "a"}, &login{User: "b"}))
}

// TestRewrite: the rewritten text is decoded as strictly as an input.
func TestRewrite(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	rewrite := func(value string) []runtime.Rewrite {
		return []runtime.Rewrite{{Pointer: "/user", Value: wire.Raw(value)}}
	}
	text, args, err := tool.Rewrite([]byte(`{"user":"ann","password":"x"}`), &login{User: "ann", Password: "x"}, rewrite(`"bob"`))
	require.NoError(t, err)
	assert.Equal(t, &login{User: "bob", Password: "x"}, args)
	assert.JSONEq(t, `{"user":"bob","password":"x"}`, string(text))
	_, _, err = tool.Rewrite([]byte(`{"user":"ann"}`), &login{User: "ann"}, rewrite(`7`))
	assert.ErrorContains(t, err, "the rewritten arguments are invalid")
}

// TestEncode: an output has at most the size that the tool declares, and a bounded depth.
func TestEncode(t *testing.T) {
	out, violations, err := of(t, &runtime.Spec{}).Encode(nil, &login{User: "ann"})
	require.NoError(t, err)
	assert.Empty(t, violations)
	assert.JSONEq(t, `{"user":"ann","password":""}`, string(out))
	_, _, err = of(t, &runtime.Spec{Limits: runtime.Limits{Output: 10}}).Encode(nil, &login{User: "ann"})
	assert.Equal(t, wire.ErrTooLarge, err)
	_, violations, err = of(t, &runtime.Spec{}).Encode(nil, deep{})
	assert.Equal(t, wire.ErrTooDeep, err)
	require.Len(t, violations, 1)
	assert.Equal(t, "depth", violations[0].Keyword)
}

// A deep value has more nested arrays than an output may have.
type deep struct{}

func (deep) Walk(w wire.Visitor) {
	for range entry.MaxDepth + 1 {
		w.Visit(wire.Token{Kind: wire.KindArray, Int: 1})
	}
	w.Visit(wire.Token{Kind: wire.KindNull})
	for range entry.MaxDepth + 1 {
		w.Visit(wire.Token{Kind: wire.KindEnd})
	}
}

// TestMask: the obligations to mask apply together, others are not this method's.
func TestMask(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	out := wire.Raw(`{"user":"ann","password":"x"}`)
	masked, err := tool.Mask([]runtime.Obligation{
		{Code: "notify", Args: wire.Raw(`{"pointers":["/user"]}`)}, {Code: redact.Obligation, Args: wire.Raw(`{"pointers":["/password"]}`)},
	}, out)
	require.NoError(t, err)
	assert.Contains(t, string(masked), `"ann"`)
	assert.NotContains(t, string(masked), `"x"`)
	masked, err = tool.Mask([]runtime.Obligation{{Code: redact.Obligation, Args: wire.Raw(`{"pointers":1}`), At: "rule 1"}}, out)
	assert.ErrorContains(t, err, "rule 1")
	assert.NotContains(t, string(masked), "ann", "the whole output is withheld")
}

// TestPlace: without a schema only the handler knows the members of an output.
func TestPlace(t *testing.T) {
	var p jsonedit.Pointer
	assert.Equal(t, redact.PlaceOpen, of(t, &runtime.Spec{}).Place(p))
	broken := "{"
	assert.Equal(t, redact.PlaceNone, of(t, &runtime.Spec{OutputSchema: &broken}).Place(p))
}

// TestRetries: only an idempotent tool is run again, at most max times, after a transient error or, if it
// says so, a timeout.
// SEMANTICS 6.2.2
func TestRetries(t *testing.T) {
	tool := of(t, &runtime.Spec{Idempotent: true, Retry: &runtime.Retry{Max: 2}})
	assert.True(t, tool.MayRetry(1, false, true))
	assert.True(t, tool.MayRetry(2, false, true))
	assert.False(t, tool.MayRetry(3, false, true))
	assert.False(t, tool.MayRetry(1, false, false))
	assert.False(t, tool.MayRetry(1, true, true), "it does not declare on_timeout")
	assert.False(t, tool.MayRetryTimeout(1))
	assert.True(t, tool.MayRerun(2))
	assert.False(t, tool.MayRerun(3))
	tool = of(t, &runtime.Spec{Idempotent: true, Retry: &runtime.Retry{Max: 1, OnTimeout: true}})
	assert.True(t, tool.MayRetry(1, true, false))
	assert.True(t, tool.MayRetryTimeout(1))
	assert.False(t, tool.MayRetryTimeout(2))
	tool.Spec.Idempotent = false
	assert.False(t, tool.MayRetry(1, false, true) || tool.MayRetryTimeout(1) || tool.MayRerun(1))
	tool.Spec.Idempotent, tool.Spec.Retry = true, nil
	assert.False(t, tool.MayRetry(1, false, true) || tool.MayRetryTimeout(1) || tool.MayRerun(1))
}

// TestBackoff: the wait doubles up to its cap, and half of it is random.
// SEMANTICS 6.2.3
func TestBackoff(t *testing.T) {
	r := &runtime.Retry{Initial: time.Second, Cap: 10 * time.Second}
	for i, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
		seen := map[time.Duration]bool{}
		longest := time.Duration(0)
		for range 1000 {
			d := tools.Backoff(r, i+1)
			seen[d] = true
			longest = max(longest, d)
			assert.LessOrEqual(t, d, most, i)
			assert.GreaterOrEqual(t, d, most/2, i)
		}
		assert.Greater(t, len(seen), 100, "calls that failed together come back together")
		assert.Greater(t, longest, most*9/10, i)
	}
}

// TestErrorText: a model reads a public error, and another one only where the tool declares its errors safe.
func TestErrorText(t *testing.T) {
	tool, safe := of(t, &runtime.Spec{}), of(t, &runtime.Spec{SafeErrors: true})
	public := fmt.Errorf("inner: %w", runtime.Public("full", errors.New("the disk is full")))
	for _, tool := range []*tools.Tool{tool, safe} {
		text, code := tool.ErrorText(public, "whole")
		assert.Equal(t, []string{"the disk is full", "full"}, []string{text, code})
	}
	text, code := tool.ErrorText(errors.New("/etc/x"), "/etc/x")
	assert.Empty(t, text+code)
	text, _ = safe.ErrorText(errors.New("/etc/x"), "/etc/x")
	assert.Equal(t, "/etc/x", text)
}

// TestPreview: a panic of the hook is an error that no tool has returned.
func TestPreview(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	preview, err := tool.Preview(t.Context(), &login{})
	require.NoError(t, err)
	assert.Nil(t, preview, "the tool has none")
	tool.Spec.Consent = &runtime.Consent{Preview: true}
	tool.Hooks.Preview = func(context.Context, wire.Value) (string, string, error) { return "text/plain", "logs in", nil }
	preview, err = tool.Preview(t.Context(), &login{})
	require.NoError(t, err)
	assert.Equal(t, "logs in", preview.Text)
	tool.Hooks.Preview = func(context.Context, wire.Value) (string, string, error) { panic("oops") }
	preview, err = tool.Preview(t.Context(), &login{})
	assert.Nil(t, preview)
	_, returned := errors.AsType[*usercode.Error](err)
	assert.ErrorContains(t, err, "oops")
	assert.False(t, returned)
}

// TestSecrets: what is sensitive in the input, the arguments, the output and the state of the undo is
// removed, also after the handler has changed its arguments.
func TestSecrets(t *testing.T) {
	tool := of(t, &runtime.Spec{})
	input := []byte(`{"user":"ann","password":"given-secret"}`)
	in, _, _ := tool.Read(input)
	v := tools.Values{
		Args: in.Args, Text: in.Text, Final: in.Args, FinalText: []byte(`{"user":"ann","password":"final-secret"}`),
		Outputs: &login{Password: "output-secret"},
	}
	in.Args.(*login).Password = "changed"
	text := "ann given-secret final-secret output-secret state-secret"
	got := v.Secrets(tool, input, &login{Password: "state-secret"}).Redact(text)
	assert.True(t, strings.HasPrefix(got, "ann "), got)
	assert.NotContains(t, got, "secret")
	assert.Equal(t, text, new(tools.Values).Secrets(nil, input, nil).Redact(text), "an unknown tool")
}

// TestPeriodic: a tool that declares every has its arguments in the declaration.
func TestPeriodic(t *testing.T) {
	list := []tools.Tool{{Spec: &runtime.Spec{Name: "a"}}, {Spec: &runtime.Spec{Name: "b", Every: time.Minute, Args: "{}"}}}
	specs, err := tools.Periodic(list)
	require.NoError(t, err)
	assert.Equal(t, []*runtime.Spec{list[1].Spec}, specs)
	list[1].Spec.Args = ""
	_, err = tools.Periodic(list)
	assert.EqualError(t, err, `tool "b" is periodic and declares no args: add the arguments of its calls`)
}
