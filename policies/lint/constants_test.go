package lint

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

const (
	badZone    = `unknown time zone Europe/Berln (write a name of the IANA database, such as "Europe/Berlin" or "UTC")`
	badNetwork = `invalid CIDR address: 10.0.0.0/33 (write an address with the length of its prefix, such as "10.0.0.0/8")`
)

// failing are constants with which a function fails.
var failing = []verdict{
	{regotest.When(`time.clock([input.now_ns, "Europe/Berln"])[0] > 3`), `:8:28: time.clock: ` + badZone},
	{regotest.When(`time.clock([input.now_ns, tz])[0] > 3`, `tz := "Europe/Berln"`), `time.clock: ` + badZone},
	{regotest.When(`at := [input.now_ns, tz]; time.date(at)[0] > 3`, `tz := "Europe/Berln"`), `time.date: ` + badZone},
	{regotest.When(`time.weekday([input.now_ns, config.tz]) == "Sunday"`, `config := {"tz": "Europe/Berln"}`), `time.weekday: ` + badZone},
	{regotest.When(`time.weekday([input.now_ns, acme.zone]) == "Sunday"`), `acme/data.json:3:102: time.weekday: ` + badZone},
	{regotest.When(`late(input.now_ns, "Europe/Berln")`, `late(ns, tz) if time.clock([ns, tz])[0] > 3`), `time.clock: ` + badZone},
	{regotest.When(`late(input.now_ns)`, `late(ns) if { some tz in ["UTC", "Europe/Berln"]; time.clock([ns, tz])[0] > 3 }`), `time.clock: ` + badZone},
	{regotest.When(`time.format([input.now_ns, "Europe/Berln", "RFC3339"]) == "x"`), `time.format: ` + badZone},
	{regotest.When(`time.diff([input.now_ns, "Europe/Berln"], [0, "UTC"])[0] > 1`), `time.diff: ` + badZone},
	{regotest.When(`time.clock([input.now_ns, "Local"])[0] > 3`), `time.clock: the time zone Local is another one on each host (write a name of the IANA database`},
	{regotest.When(`time.clock([input.now_ns, hours.zone])[0] > 3`, `hours := {"zone": "Local"}`), `time.clock: the time zone Local`},
	{regotest.When(`time.weekday([input.now_ns, "localtime"]) == "Sunday"`), `time.weekday: the time zone localtime`},
	{regotest.When(`time.diff([0, "UTC"], [input.now_ns, "Local"])[0] > 1`), `time.diff: the time zone Local`},
	{regotest.When(`time.format([input.now_ns, zone(1), "2006"]) == "2024"`, `zone(_) := "Local"`), `time.format: the time zone Local`},
	{regotest.When(`time.parse_ns("RFC1123", "Mon, 01 Jan 2024 00:00:00 CET") > input.now_ns`), `time.parse_ns: the zone CET has another offset on each host: write the offset as a number`},
	{regotest.When(`net.cidr_contains("10.0.0.0/33", input.args.to)`), `net.cidr_contains: ` + badNetwork},
	{regotest.When(`net.cidr_contains(office, input.args.to)`, `office := "10.0.0.0/33"`), `net.cidr_contains: ` + badNetwork},
	{regotest.When(`net.cidr_contains(acme.net, input.args.to)`), `acme/data.json:4:10: net.cidr_contains: ` + badNetwork},
	{regotest.When(`some n in nets; net.cidr_contains(n, input.args.to)`, `nets := {"10.0.0.0/8", "10.0.0.0/33"}`), `net.cidr_contains: ` + badNetwork},
	{regotest.When(`net.cidr_contains(input.args.to, "10.0.0")`), `net.cidr_contains: `},
	{regotest.When(`net.cidr_intersects(input.args.to, "10.0.0.0/33")`), `net.cidr_intersects: ` + badNetwork},
	{regotest.When(`count(net.cidr_contains_matches(["10.0.0.0/33"], input.args.to)) > 0`), `net.cidr_contains_matches: `},
	{regotest.When(`count(net.cidr_merge(["10.0.0.0/33"])) > 0`), `net.cidr_merge: `},
	{regotest.When(`glob.match("a[", [], input.args.to)`), `glob.match: `},
	{regotest.When(`glob.match("a*", ["//"], input.args.to)`), `glob.match: operand 2 must be array of runes`},
	{regotest.When(`glob.match(p, ["."], input.args.to)`, `p := "{a"`), `glob.match: `},
	{regotest.When(`time.parse_duration_ns("10 minutes") > input.args.amount`), `time.parse_duration_ns: time: unknown unit " minutes" in duration "10 minutes" (write such as "10m", "36h" or "1h30m")`},
	{regotest.When(`time.parse_duration_ns(wait) > input.args.amount`, `wait := "10 minutes"`), `time.parse_duration_ns: `},
	{regotest.When(`wait > input.args.amount`, `wait := time.parse_duration_ns("1day")`), `time.parse_duration_ns: `},
	{regotest.When(`time.parse_duration_ns(acme.wait) > input.args.amount`), `acme/data.json:5:111: time.parse_duration_ns: `},
	{regotest.When(`regex.match(p, input.args.to)`, `p := "("`), `regex.match: error parsing regexp`},
	{regotest.When(`regex.match(acme.pattern, input.args.to)`), `acme/data.json:5:98: regex.match: error parsing regexp`},
	{regotest.When(`count(regex.split(p, input.args.to)) > 0`, `p := "("`), `regex.split: `},
	{regotest.When(`regex.replace(input.args.to, p, "") == ""`, `p := "("`), `regex.replace: `},
	{regotest.When(`semver.compare(input.tool.version, "1.x") > 0`), `semver.compare: `},
	{regotest.When(`units.parse("10 Apples") > input.args.amount`), `units.parse: `},
	{regotest.When(`units.parse_bytes("ten") > input.args.amount`), `units.parse_bytes: `},
	{regotest.When(`to_number("ten") > input.args.amount`), `to_number: `},
	{regotest.When(`time.parse_rfc3339_ns("2024-13-01") > input.now_ns`), `time.parse_rfc3339_ns: `},
	{regotest.When(`time.parse_ns("2006-01-02", "tomorrow") > input.now_ns`), `time.parse_ns: `},
	{regotest.When(`json.unmarshal("{") == input.args`), `json.unmarshal: `},
	{regotest.When(`base64.decode("*") == input.args.to`), `base64.decode: `},
	{regotest.When(`hex.decode("xy") == input.args.to`), `hex.decode: `},
	{regotest.When(`input.args.amount / 0 > 1`), `div: divide by zero`},
	{regotest.When(`input.args.amount % zero == 1`, `zero := 0`), `rem: `},
	{regotest.When(`format_int(input.args.amount, 7) == "x"`), `format_int: `},
	{regotest.When(`substring(input.args.to, -1, 2) == "x"`), `substring: `},
}

// working are constants with which functions work, and what only looks alike.
var working = []verdict{
	{regotest.When(`time.clock([input.now_ns, "Europe/Berlin"])[0] > 3`), ""},
	{regotest.When(`time.clock(input.now_ns)[0] > 3`), ""},
	{regotest.When(`time.clock([input.now_ns, acme.here])[0] > 3`), ""},
	{regotest.When(`time.clock([input.now_ns, input.args.to])[0] > 3`), ""},
	{regotest.When(`time.weekday([input.now_ns, "America/New_York"]) == "Sunday"`), ""},
	{regotest.When(`time.format([input.now_ns, "UTC", "RFC3339"]) == "x"`), ""},
	{regotest.When(`time.format([input.now_ns, "Asia/Tokyo", "2006-01-02"]) == "x"`), ""},
	{regotest.When(`time.add_date(input.now_ns, 0, 1, 0) > 4`), ""},
	{regotest.When(`time.parse_ns("RFC1123", "Mon, 01 Jan 2024 00:00:00 GMT") > input.now_ns`), ""},
	{regotest.When(`time.parse_ns("RFC1123Z", "Mon, 01 Jan 2024 00:00:00 +0100") > input.now_ns`), ""},
	{regotest.When(`crypto.sha256(input.args.to) == "00"; crypto.hmac.sha256("a", "k") == "x"`), ""},
	{regotest.When(`count({input.args.to} & {"x", "y"}) > 0`), ""},
	{regotest.When(`time.diff(input.now_ns, 0)[0] > 1`), ""},
	{regotest.When(`net.cidr_contains("10.0.0.0/8", input.args.to)`), ""},
	{regotest.When(`net.cidr_contains("fe80::/10", input.args.to)`), ""},
	{regotest.When(`net.cidr_contains(input.args.to, "10.1.2.3")`), ""},
	{regotest.When(`net.cidr_contains(input.args.to, "fe80::1")`), ""},
	{regotest.When(`net.cidr_is_valid(input.args.to); net.cidr_contains("10.0.0.0/8", input.args.to)`), ""},
	{regotest.When(`count(net.cidr_contains_matches({"a": "10.0.0.0/8"}, [input.args.to])) > 0`), ""},
	{regotest.When(`glob.match("*.example", ["."], input.args.to)`), ""},
	{regotest.When(`glob.match("{a,b}/**", ["/"], input.args.to)`), ""},
	{regotest.When(`glob.match("a?b", null, input.args.to)`), ""},
	{regotest.When(`regex.match(p, input.args.to)`, "p := `^[a-z]+\\.example$`"), ""},
	{regotest.When(`regex.template_match("a{[b-d]+}", input.args.to, "{", "}")`), ""},
	{regotest.When(`regex.is_valid(p); regex.match(p, input.args.to)`, `p := "a+"`), ""},
	{regotest.When(`time.parse_duration_ns("36h") > input.args.amount`), ""},
	{regotest.When(`time.parse_duration_ns(input.args.to) > 5`), ""},
	{regotest.When(`time.parse_ns("2006-01-02", input.args.to) > input.now_ns`), ""},
	{regotest.When(`semver.compare(input.tool.version, "1.2.0") < 0`), ""},
	{regotest.When(`units.parse("10K") > input.args.amount`), ""},
	{regotest.When(`to_number(input.args.to) > 1; to_number("10") > 1`), ""},
	{regotest.When(`json.unmarshal("{}") == input.args`), ""},
	{regotest.When(`input.args.amount / 2 > 1; input.args.amount % 2 == 0; 5 / input.args.amount > 1`), ""},
	{regotest.When(`format_int(input.args.amount, 16) == "x"`), ""},
	{regotest.When(`substring(input.args.to, 0, -1) == "x"`), ""},
	{regotest.When(`indexof(input.args.to, "x") > 0; sprintf("%d", ["x"]) == "x"`), ""},
	{regotest.When(`uri.parse(input.args.to).host == "x"`), ""},
	{regotest.When(`not ambit.path.below(input.args.to, "/srv/docs"); ambit.path.ext(input.args.to) == ".md"`), ""},
}

// A constant with which a function fails in every decision is refused, also behind
// locals and rules.
func TestConstantsOfFunctions(t *testing.T) {
	judge(t, orgHeader, failing)
	judge(t, orgHeader, working)
}

// The terms that replace arguments that are not constant must be valid with every
// constant one: each function is tried with these terms alone.
func TestProbesAreRight(t *testing.T) {
	b, err := read(regotest.ShopDir(t))
	assert.NoError(t, err)
	a := values.New(b.Bundle)
	for name, p := range probes {
		assert.NotNil(t, functions.Builtin(name), name)
		assert.NotEmpty(t, p.hint, name)
		var args []*ast.Term
		whole := true
		for _, text := range p.with {
			if whole = whole && text != ""; whole {
				args = append(args, ast.MustParseTerm(text))
			}
		}
		if whole {
			_, err := a.Call(name, args)
			assert.NoError(t, err, name)
		}
		assert.Equal(t, functions.Builtin(name).Decl.Arity(), len(p.with), name)
	}
}
