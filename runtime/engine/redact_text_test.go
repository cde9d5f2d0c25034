package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A vaultInput has sensitive members of all kinds.
type vaultInput struct {
	Name    string
	Token   string
	Pin     float64
	Any     wire.Raw
	Headers map[string]string
}

var (
	vaultRule = wire.ObjectRule{
		Names:    []string{"name", "token", "pin", "any", "headers"},
		Defaults: []wire.Default{{Name: "name", JSON: `""`}, {Name: "token", JSON: `""`}, {Name: "pin", JSON: `0.5`}, {Name: "any", JSON: `null`}, {Name: "headers", JSON: `{}`}},
	}
	vaultText    = wire.StringRule{}
	vaultToken   = wire.StringRule{Sensitive: true}
	vaultPin     = wire.NumberRule{Sensitive: true}
	vaultAny     = wire.RawRule{Sensitive: true}
	vaultHeaders = wire.ObjectRule{Open: true, Sensitive: true}
)

func (v *vaultInput) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "name":
		wire.ReadString(r, &v.Name, &vaultText)
	case "token":
		wire.ReadString(r, &v.Token, &vaultToken)
	case "pin":
		wire.ReadFloat(r, &v.Pin, &vaultPin)
	case "any":
		wire.ReadRaw(r, &v.Any, &vaultAny)
	case "headers":
		wire.ReadMap(r, &v.Headers, &vaultHeaders, wire.ReadString, &vaultText)
	}
}

func (v *vaultInput) Walk(w wire.Visitor) {
	wire.BeginObject(w, &vaultRule)
	wire.Member(w, "name", &v.Name, wire.WalkString, &vaultText)
	wire.Member(w, "token", &v.Token, wire.WalkString, &vaultToken)
	wire.Member(w, "pin", &v.Pin, wire.WalkFloat, &vaultPin)
	wire.Member(w, "any", &v.Any, wire.WalkRaw, &vaultAny)
	w.Visit(wire.Token{Kind: wire.KindName, Str: "headers"})
	wire.WalkMap(w, &v.Headers, &vaultHeaders, wire.WalkString, &vaultText)
	wire.End(w)
}

// vaultMessage makes a call whose handler fails with a text, and returns what the
// model is told.
func vaultMessage(t *testing.T, input string, text func(in *vaultInput) string) string {
	t.Helper()
	r := newRig(t, runtime.NewTool(&runtime.Spec{Name: "vault", SafeErrors: true}, &vaultRule,
		func(_ context.Context, in *vaultInput) (*readOutput, error) { return nil, errors.New(text(in)) }))
	out := r.turn().Execute(t.Context(), callOf("c1", "vault", input))
	require.Equal(t, runtime.ReasonHandlerError, out.Reason, out.Message)
	assert.Equal(t, out.Message, r.sink.Events()[4].Err)
	return out.Message
}

func TestSecretsInEveryForm(t *testing.T) {
	asJSON := func(html, ascii bool) func(any) string {
		return func(v any) string {
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			_ = enc.Encode(v)
			if !ascii {
				return strings.TrimSpace(b.String())
			}
			return strings.NewReplacer("ä", `\u00e4`, "😀", `\ud83d\ude00`).Replace(strings.TrimSpace(b.String()))
		}
	}
	input, err := json.Marshal(map[string]any{
		"name": "bob", "token": "pä\"ss<w>ord&1😀\n\\", "pin": 1234567.25, "any": map[string]any{"inside": "deep-value"},
		"headers": map[string]string{"X-Secret-Name": "header-value"},
	})
	require.NoError(t, err)
	for name, text := range map[string]func(in *vaultInput) string{
		"plain":      func(in *vaultInput) string { return in.Token },
		"quoted":     func(in *vaultInput) string { return fmt.Sprintf("%q", in.Token) },
		"ascii":      func(in *vaultInput) string { return fmt.Sprintf("%+q", in.Token) },
		"json":       func(in *vaultInput) string { return asJSON(false, false)(in.Token) },
		"html json":  func(in *vaultInput) string { return asJSON(true, false)(in.Token) },
		"ascii json": func(in *vaultInput) string { return asJSON(false, true)(in.Token) },
		"ascii html": func(in *vaultInput) string { return asJSON(true, true)(in.Token) },
		"number":     func(in *vaultInput) string { return fmt.Sprint(in.Pin) },
		"json num":   func(in *vaultInput) string { return asJSON(false, false)(in.Pin) },
		"raw":        func(in *vaultInput) string { return string(in.Any) },
		"map":        func(in *vaultInput) string { return fmt.Sprint(in.Headers) },
	} {
		t.Run(name, func(t *testing.T) {
			message := vaultMessage(t, string(input), text)
			for _, part := range []string{"ss<", "ord", "1234567", "234567", "inside", "deep", "Secret", "header-value"} {
				assert.NotContains(t, message, part)
			}
			assert.Contains(t, message, "(sensitive)")
		})
	}
}

// TestSecretsOfTheArgumentsAsGiven has handlers that change their input.
func TestSecretsOfTheArgumentsAsGiven(t *testing.T) {
	message := vaultMessage(t, `{"token":"HunterHunter2","any":{"exact":1234567890123456789}}`, func(in *vaultInput) string {
		was := in.Token
		in.Token, in.Any = strings.ToLower(in.Token), nil
		return "bad token " + was + ", number 1234567890123456789"
	})
	assert.Equal(t, "bad token (sensitive), number (sensitive)", message)
}

func TestSecretsOfARewrite(t *testing.T) {
	r := newRigWith(t, decide(runtime.Decision{
		Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "own", Pointer: "/token", Value: wire.Raw(`"the-policys-own"`)}},
	}), []*runtime.Tool{runtime.NewTool(&runtime.Spec{Name: "vault", SafeErrors: true}, &vaultRule,
		func(_ context.Context, in *vaultInput) (*readOutput, error) {
			return nil, errors.New(in.Token + " instead of the-models-own")
		})})
	out := r.turn().Execute(t.Context(), callOf("c1", "vault", `{"token":"the-models-own"}`))
	assert.Equal(t, "(sensitive) instead of (sensitive)", out.Message)
}

// A sealedInput is a login all of which is sensitive.
type sealedInput struct{ loginInput }

var sealedRule = wire.ObjectRule{Names: loginInputRule.Names, Required: 2, Sensitive: true}

func (v *sealedInput) Walk(w wire.Visitor) { wire.WalkObject(w, &v.loginInput, &sealedRule) }

func TestDeclaredNamesAreNoSecrets(t *testing.T) {
	r := newRig(t, runtime.NewTool(&runtime.Spec{Name: "login", SafeErrors: true}, &sealedRule,
		func(_ context.Context, in *sealedInput) (*readOutput, error) {
			return nil, errors.New("user and password do not match: " + in.User + ", " + in.Password)
		}))
	out := r.turn().Execute(t.Context(), callOf("c1", "login", `{"user":"robert","password":"hunter2"}`))
	assert.Equal(t, "user and password do not match: (sensitive), (sensitive)", out.Message)
}
