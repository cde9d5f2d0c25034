package opa

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
)

// A path without an answer denies the call, whichever way the rule is written. The plan and OPA say the same.
// SEMANTICS 7.5.11
func TestPathsInPolicies(t *testing.T) {
	const deny = `deny contains {"code": "night", "message": "m"} if `
	for _, test := range []struct{ rule, path, want string }{
		{deny + `not ambit.path.below(input.args.path, "docs")`, "docs/a.md", "allow"},
		{deny + `not ambit.path.below(input.args.path, "docs")`, "docs/sub/../a.md", "allow"},
		{deny + `not ambit.path.below(input.args.path, "docs")`, "docs/../src/a.go", "deny night"},
		{deny + `not ambit.path.below(input.args.path, "docs")`, "docs-secret/a.md", "deny night"},
		{deny + `not ambit.path.below(input.args.path, "docs")`, "docs", "deny night"},
		{deny + `not ambit.path.below(input.args.path, "docs")`, "/docs/a.md", "deny night"},
		{deny + `ambit.path.below(input.args.path, "secret")`, "docs/../secret/a", "deny night"},
		{deny + `ambit.path.below(input.args.path, "secret")`, "docs/../../secret/a", `error: ambit.path.below: the path leads above the folder in which it begins, by an element ".."`},
		{deny + `ambit.path.below(input.args.path, "secret")`, `docs\..\secret`, "error: ambit.path.below: the path has a character that some programs read as a slash"},
		{deny + `ambit.path.below(input.args.path, "secret")`, "docs/%2e%2e/secret", `error: ambit.path.below: the path has an element that some programs read as "." or ".."`},
		{deny + `ambit.path.below(input.args.path, "secret")`, "", "error: ambit.path.below: the path is empty"},
		{deny + `ambit.path.clean(input.args.path) == "etc/passwd"`, "a/..//etc/./passwd", "deny night"},
		{deny + `ambit.path.clean(input.args.path) in {"/", "."}`, "//", "deny night"},
		{deny + `ambit.path.base(input.args.path) == ".env"`, "a/.env/", "deny night"},
		{deny + `ambit.path.base(input.args.path) == ".env"`, "a/.env/..", "allow"},
		{deny + `not ambit.path.ext(input.args.path) in {".md", ".txt"}`, "docs/a.b.md", "allow"},
		{deny + `not ambit.path.ext(input.args.path) in {".md", ".txt"}`, "docs.md/a", "deny night"},
		{deny + `not ambit.path.is_valid(input.args.path)`, "../a", "deny night"},
		{deny + `not ambit.path.is_valid(input.args.path)`, "a", "allow"},
	} {
		p, reg := load(t, "o.rego", regotest.Org(test.rule))
		d, err := p.Decide(t.Context(), call(t, reg, "file_read", `{"path":`+ast.String(test.path).String()+`}`))
		got := d.Effect.String()
		for _, denial := range d.Denials {
			got += " " + denial.Code
		}
		if err != nil {
			require.Equal(t, runtime.EffectDeny, d.Effect)
			got = "error: " + err.Error()
		}
		if want, failed := strings.CutPrefix(test.want, "error: "); failed {
			assert.ErrorContains(t, err, want, test.path)
		} else {
			assert.Equal(t, test.want, got, "%s: %s", test.rule, test.path)
		}
	}
}
