package ruleinput_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestConfig: of several sets the strictest holds for all tools together, and those for each tool are
// merged with the rules of the tool.
func TestConfig(t *testing.T) {
	set := func(s runtime.Rules) *runtime.Rules { return &s }
	got := ruleinput.Config([]*runtime.Spec{
		{Name: "a", Set: set(runtime.Rules{MaxCalls: 5, Cooldown: time.Second})},
		{Name: "b", Set: set(runtime.Rules{MaxCalls: 3, Cooldown: time.Minute})},
		{Name: "c", Rules: runtime.Rules{MaxCalls: 4, Cooldown: time.Second}, Set: set(runtime.Rules{MaxCalls: 2, MaxCallsEach: true, Cooldown: time.Hour, CooldownEach: true})},
		{Name: "d", Rules: runtime.Rules{MaxCalls: 1, Cooldown: time.Hour}, Set: set(runtime.Rules{MaxCalls: 2, MaxCallsEach: true, Cooldown: time.Second, CooldownEach: true})},
		{Name: "e", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways}, Undo: &runtime.UndoSpec{}, Idempotency: &runtime.Idempotency{Window: time.Second}},
	}, 7)
	assert.Equal(t, 7, got.Reminders)
	assert.Equal(t, 3, got.Set.MaxCalls)
	assert.Equal(t, time.Minute, got.Set.Cooldown)
	require.Len(t, got.Tools, 5)
	assert.Zero(t, got.Tools[0].Rules)
	assert.Equal(t, runtime.Rules{MaxCalls: 2, Cooldown: time.Hour}, got.Tools[2].Rules)
	assert.Equal(t, runtime.Rules{MaxCalls: 1, Cooldown: time.Hour}, got.Tools[3].Rules)
	assert.Equal(t, rules.Tool{Name: "e", Consent: true, Undo: time.Hour, Idempotency: &rules.Idempotency{Window: time.Second}}, got.Tools[4])
	assert.Equal(t, time.Minute, ruleinput.UndoTTL(&runtime.Spec{Undo: &runtime.UndoSpec{TTL: time.Minute}}))
	assert.Zero(t, ruleinput.UndoTTL(&runtime.Spec{}))
}

// digests returns the digests of a call of a tool whose idempotency key is its members k and l.
func digests(t *testing.T, tool, principal, args string, key ruleinput.Key) (rules.Call, rules.Digest) {
	t.Helper()
	return digestsOf(t, runtime.Spec{Name: tool}, principal, args, key)
}

// digestsOf is digests for a tool with other names.
func digestsOf(t *testing.T, names runtime.Spec, principal, args string, key ruleinput.Key) (rules.Call, rules.Digest) {
	t.Helper()
	rc := rules.Call{Tool: names.Name, Principal: principal}
	spec := &runtime.Spec{Name: names.Name, RenamedFrom: names.RenamedFrom, Idempotency: &runtime.Idempotency{Key: []string{"k", "l"}}}
	effect, err := ruleinput.Digests(&rc, spec, &rules.Wants{Args: true, Key: true}, wire.Raw(args), key)
	require.NoError(t, err)
	return rc, effect
}

// TestDigests: equal calls have equal digests, and no others have.
func TestDigests(t *testing.T) {
	same, effect := digests(t, "t", "p", `{"k":1,"x":{"k":2}}`, nil)
	again, _ := digests(t, "t", "p", `{ "x" : {"k": 2}, "k": 1.0 }`, nil)
	assert.Equal(t, same, again)
	assert.Equal(t, effect, same.Key)
	for name, row := range map[string]struct {
		tool, principal, args string
		sameKey               bool
	}{
		"another tool":                     {tool: "u", principal: "p", args: `{"k":1,"x":{"k":2}}`},
		"another principal":                {tool: "t", principal: "q", args: `{"k":1,"x":{"k":2}}`},
		"the same letters":                 {tool: "tp", principal: "", args: `{"k":1,"x":{"k":2}}`},
		"a member outside of the key":      {tool: "t", principal: "p", args: `{"k":1,"x":{"k":3}}`, sameKey: true},
		"a member of the key":              {tool: "t", principal: "p", args: `{"k":2,"x":{"k":2}}`},
		"a value of another member":        {tool: "t", principal: "p", args: `{"l":1,"x":{"k":2}}`},
		"a member of the key that is null": {tool: "t", principal: "p", args: `{"k":1,"l":null,"x":{"k":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			other, _ := digests(t, row.tool, row.principal, row.args, nil)
			assert.NotEqual(t, same.Args, other.Args)
			assert.Equal(t, row.sameKey, same.Key == other.Key)
		})
	}
}

// TestDigestsAreKeyed: what is recorded depends on the key, and the effect does not.
func TestDigestsAreKeyed(t *testing.T) {
	plain, effect := digests(t, "t", "p", `{"k":1}`, nil)
	keyed, sameEffect := digests(t, "t", "p", `{"k":1}`, ruleinput.Key("key"))
	other, _ := digests(t, "t", "p", `{"k":1}`, ruleinput.Key("another"))
	assert.Equal(t, effect, sameEffect)
	for _, pair := range [][2]rules.Digest{{plain.Args, keyed.Args}, {plain.Key, keyed.Key}, {other.Args, keyed.Args}, {other.Key, keyed.Key}} {
		assert.NotEqual(t, pair[0], pair[1])
	}
	none := rules.Digest{}
	ruleinput.Key("key").Mask(&none)
	assert.Zero(t, none)
	k := ruleinput.Key("key")
	assert.True(t, k.Matches(k.MAC([]byte("a")), []byte("a")))
	assert.False(t, k.Matches(k.MAC([]byte("a")), []byte("b")))
	assert.False(t, k.Matches("", []byte("a")))
}

// TestDigestsOfRenamedTools: the digests of a tool are those of its first name, and those that it may have been recorded
// with under its other names stand beside them.
//
// SEMANTICS 1.5.4
func TestDigestsOfRenamedTools(t *testing.T) {
	const args = `{"k":1,"x":2}`
	for _, key := range []ruleinput.Key{nil, ruleinput.Key("key")} {
		first, effect := digests(t, "send", "p", args, key)
		second, secondEffect := digests(t, "mail", "p", args, key)
		third, _ := digests(t, "post", "p", args, key)
		assert.Empty(t, first.Earlier)

		now, same := digestsOf(t, runtime.Spec{Name: "post", RenamedFrom: []string{"send", "mail"}}, "p", args, key)
		assert.Equal(t, effect, same)
		assert.Equal(t, []rules.Digest{first.Args, first.Key}, []rules.Digest{now.Args, now.Key})
		assert.Equal(t, []rules.Digests{{Args: second.Args, Key: second.Key}, {Args: third.Args, Key: third.Key}}, now.Earlier)

		// The key of a recorded call is that which its handler was told.
		spec := &runtime.Spec{Name: "post", RenamedFrom: []string{"send", "mail"}, Idempotency: &runtime.Idempotency{Key: []string{"k", "l"}}}
		for recorded, want := range map[rules.Digest]rules.Digest{{}: effect, first.Key: effect, second.Key: secondEffect, {1}: effect} {
			got, err := ruleinput.Effect("p", spec, wire.Raw(args), recorded, key)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	}
}

// TestUnwanted: nothing is computed that the rules do not want.
func TestUnwanted(t *testing.T) {
	var rc rules.Call
	effect, err := ruleinput.Digests(&rc, &runtime.Spec{}, &rules.Wants{}, nil, nil)
	require.NoError(t, err)
	ruleinput.Operation(&rc, &rules.Wants{}, nil)
	assert.Zero(t, effect)
	assert.Zero(t, rc)
}

// TestOperation is the string member of the arguments that the rules name, at the top.
func TestOperation(t *testing.T) {
	for args, want := range map[string]string{
		`{"op":"put"}`: "put", `{"x":{"op":"put"},"y":["op"]}`: "", `{"op":1}`: "", `{"op":{"op":"put"}}`: "", `{"x":[{"op":"a"}],"op":"b"}`: "b",
	} {
		var rc rules.Call
		ruleinput.Operation(&rc, &rules.Wants{Operation: "op"}, wire.Raw(args))
		assert.Equal(t, want, rc.Operation, args)
		assert.Equal(t, want != "", rc.HasOperation, args)
	}
}

// TestCompile: every tool gets what its rules want to know, and an error says whose rules are wrong.
func TestCompile(t *testing.T) {
	got, err := ruleinput.Compile([]*runtime.Spec{{Name: "a"}, {Name: "b", Idempotent: true}}, 0)
	require.NoError(t, err)
	assert.False(t, got.Requires)
	require.Len(t, got.Wants, 2)
	assert.Equal(t, got.Engine.Wants("a"), got.Wants[0])
	assert.Equal(t, got.Engine.Wants("b"), got.Wants[1])

	got, err = ruleinput.Compile([]*runtime.Spec{{Name: "a", Rules: runtime.Rules{RequiredBeforeExit: true}}, {Name: "b"}}, 0)
	require.NoError(t, err)
	assert.True(t, got.Requires)

	_, err = ruleinput.Compile([]*runtime.Spec{{Name: "a"}, {Name: "a"}}, 0)
	assert.ErrorContains(t, err, "the rules of the tools: ")
}
