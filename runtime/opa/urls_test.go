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

// A URL without an answer denies the call, whichever way the rule is written.
func TestURLsInPolicies(t *testing.T) {
	for _, test := range []struct{ rule, url, want string }{
		{allowHosts, "https://good.example/x", "allow"},
		{denyHosts, "https://good.example/x", "allow"},
		{denyHosts, "https://GOOD.example.:443/x", "allow"},
		{denyHosts, "https://evil.example/good.example", "deny night"},
		{blockHosts, "https://good.example/x", "allow"},
		{blockHosts, "https://EVIL.example./x", "deny night"},
		{blockNets, "https://[::ffff:127.0.0.1]/x", "deny night"},
		{onlyValid, "https://good.example/x", "allow"},
		{onlyValid, "http://good.example/x", "deny too_many"},
		{onlyValid, "https://good@evil.example/x", "deny night"},
		{denyHosts, "http://good.example@evil.example/", "error: ambit.url.host: the URL has user info"},
		{blockHosts, "http://good.example@evil.example/", "error: ambit.url.host: the URL has user info"},
		{allowHosts, "http://good.example@evil.example/", "error: ambit.url.host: the URL has user info"},
		{blockHosts, "evil.example", "error: ambit.url.host: not an absolute URL"},
		{denyHosts, "%", "error: ambit.url.host: not a URL"},
	} {
		p, reg := load(t, "o.rego", regotest.Org(test.rule))
		d, err := p.Decide(t.Context(), call(t, reg, "file_read", `{"path":`+ast.String(test.url).String()+`}`))
		got := d.Effect.String()
		for _, denial := range d.Denials {
			got += " " + denial.Code
		}
		if err != nil {
			require.Equal(t, runtime.EffectDeny, d.Effect)
			got = "error: " + err.Error()
		}
		if strings.HasPrefix(test.want, "error: ") {
			assert.Contains(t, got, strings.TrimPrefix(test.want, "error: "), test.url)
			assert.Error(t, err)
		} else {
			assert.Equal(t, test.want, got, test.url)
		}
	}
}

const (
	allowHosts = `allow contains {"code": "ours", "message": "m"} if ambit.url.host(input.args.path) in {"good.example"}`
	denyHosts  = `deny contains {"code": "night", "message": "m"} if not ambit.url.host(input.args.path) in {"good.example"}`
	blockHosts = `deny contains {"code": "night", "message": "m"} if ambit.url.host(input.args.path) in {"evil.example"}`
	blockNets  = `deny contains {"code": "night", "message": "m"} if net.cidr_contains("127.0.0.0/8", ambit.url.host(input.args.path))`
	onlyValid  = "deny contains {\"code\": \"night\", \"message\": \"m\"} if not ambit.url.is_valid(input.args.path)\n\n" +
		"deny contains {\"code\": \"too_many\", \"message\": \"m\"} if {\n\tambit.url.is_valid(input.args.path)\n\tambit.url.port(input.args.path) != 443\n}"
)
