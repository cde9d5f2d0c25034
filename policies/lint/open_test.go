package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// judged returns what is said of a policy of the tool pay: its errors, or its warnings but for those of optional
// members, each with its code.
func judged(t *testing.T, policy string) string {
	t.Helper()
	fsys := regotest.ShopDir(t)
	fsys["conf/data.json"] = regotest.Text(`{"blocked": ["bob", "carl"], "names": "mallory", "most": null, "users": {"alice": {"limit": 5, "team": "a"}, "bob": {"limit": 1, "team": "b"}}, "days": ["monday"], "list": ["x", "y"], "hosts": ["Example.com"], "flag": true, "level": "strict"}`)
	fsys["t.rego"] = regotest.Text("package ambit.tools.pay\n\nimport data.conf\n\nallow contains {\"code\": \"conf\", \"message\": \"m\"} if conf.flag\n\n" + policy + "\n")
	report, err := Check(fsys)
	require.NoError(t, err)
	var said []string
	for _, d := range report.Errors {
		said = append(said, d.Error())
	}
	for _, d := range report.Warnings {
		if d.Code != codeOptional {
			said = append(said, "warning "+d.Code+": "+d.Error())
		}
	}
	return strings.Join(said, "\n")
}

func allowIf(condition string, more ...string) string {
	return strings.Replace(regotest.When(condition, more...), "deny contains", "allow contains", 1)
}

// check holds what is said of policies against what must be: nothing where want is empty.
func check(t *testing.T, table []verdict) {
	t.Helper()
	for _, v := range table {
		if got := judged(t, v.policy); v.want == "" {
			assert.Empty(t, got, v.policy)
		} else {
			assert.Contains(t, got, v.want, v.policy)
		}
	}
}

const (
	always   = "which is never false: this condition always holds"
	whenever = "warning never_false: t.rego"
	never    = "never holds"
)

// A condition that is never false holds in every call, or in every one that has its value.
func TestConditions(t *testing.T) {
	check(t, []verdict{
		{allowIf(`trusted`, `trusted contains n if { some n in {"alice"}; n == input.principal.id }`), "trusted is a set, " + always},
		{allowIf(`trusted`, `trusted := ["alice"]`), "trusted is an array, " + always},
		{allowIf(`trusted`, `trusted := {"alice": 1}`), "trusted is an object, " + always},
		{allowIf(`level`, `default level := "none"`, `level := "high" if input.args.amount > 5`), "level is a string, " + always},
		{allowIf(`level`, `level := "high" if input.args.amount > 5`, `level := "low" if input.args.amount <= 5`), "level is a string, " + always},
		{allowIf(`level`, `level := "high" if input.args.amount > 5`, `level := "low" if not input.args.amount > 5`), "level is a string, " + always},
		{allowIf(`level`, `level := "high" if { input.args.amount > 5 } else := "low"`), "level is a string, " + always},
		{allowIf(`indexof(input.args.to, "@example.com")`), "indexof(...) is a number, " + always},
		{allowIf(`count(input.args.lines)`), "count(...) is a number, " + always + " (write count(...) > 0)"},
		{allowIf(`n := count(input.args.lines); n`), "is a number, " + always},
		{allowIf(`input.run.counts.refund`), "input.run.counts.refund is a number, " + always},
		{allowIf(`c := input.run.counts; c.refund`), "is a number, " + always},
		{allowIf(`input.args.amount`), "input.args.amount is a number, " + always},
		{allowIf(`input.args.lines`), "input.args.lines is an array, " + always},
		{allowIf(`input.args.to`), "input.args.to is a string, " + always},
		{allowIf(`input.principal.id`), "input.principal.id is a string, " + always},
		{allowIf(`lower(input.args.to)`), "lower(...) is a string, " + always},
		{allowIf(`sprintf("%s", [input.args.to])`), "sprintf(...) is a string, " + always},
		{allowIf(`[t | some t in object.get(input.args, "tags", []); t == "approved"]`), "is an array, " + always},
		{allowIf(`{t | some t in object.get(input.args, "tags", []); t == "approved"}`), "is a set, " + always},
		{allowIf(`object.get(input.args, "tags", [])`), "is an array, " + always},
		{allowIf(`object.get(input.args, "note", "")`), "is a string, " + always},
		{allowIf(`verdict(input.args.to)`, `verdict(x) := "yes" if { x == "alice" } else := "no"`), "verdict(...) is a string, " + always},
		{allowIf(`verdict(input.args.to)`, `default verdict(_) := "no"`, `verdict(x) := "yes" if x == "alice"`), "verdict(...) is a string, " + always},
		{allowIf(`verdict(input.args.amount)`, `verdict(x) := "yes" if x > 5`, `verdict(x) := "no" if x <= 5`), "verdict(...) is a string, " + always},
		{allowIf(`names(input.args.to)`, `names(x) := {n | some n in {"alice"}; n == x}`), "names(...) is a set, " + always},
		{allowIf(`ok(input.args.amount)`, `ok(x) if x`), "is a number, " + always},
		{allowIf(`ok`, `ok if trusted`, `trusted contains "a" if input.args.amount > 5`), "trusted is a set, " + always},
		{allowIf(`every l in input.args.lines { lower(l) }`), "lower(...) is a string, " + always},
		{allowIf(`count([1 | count(input.args.lines)]) > 0`), "count(...) is a number, " + always},
		{allowIf(`n(input.args.to)`, `n(x) := count(x)`), "n(...) is a number, " + always},
		{allowIf(`trusted(input.args.to)`, `trusted(x) := "yes"`), "trusted(...) is a string, " + always},
		{allowIf(`of(input.args.to)`, `of(x) := {"id": x}`), "of(...) is an object, " + always},
		{allowIf(`of(input.args.to)`, `of(x) := [x]`), "of(...) is an array, " + always},
		{allowIf(`of(input.args.to)`, `of(x) := lower(trim_space(x))`), "of(...) is a string, " + always},
		{allowIf(`text(input.args.to)`, `text(x) := inner(x)`, `inner(x) := sprintf("%v", [x])`), "text(...) is a string, " + always},
		{allowIf(`n(input.args.lines)`, `n(x) := m(x)`, `m(x) := size(x)`, `size(x) := count(x)`), "n(...) is a number, " + always},
		{allowIf(`of(input.args.lines)`, `of(x) := y if y := inner(x)`, `inner(x) := [t | some t in x]`), "of(...) is an array, " + always},
		{allowIf(`of(input.args.to)`, `of(x) := inner(x)`, `inner(x) := {"id": x}`), "of(...) is an object, " + always},
		{allowIf(`of(input.args.to)`, `of(x) := inner(x)`, `default inner(_) := "no"`, `inner(x) := "yes" if x == "alice"`), "of(...) is a string, " + always},
		{allowIf(`not text(input.args.to)`, `text(x) := inner(x)`, `inner(x) := lower(x)`), "not text(...) " + never},
		{regotest.When(`text(input.args.to)`, `text(x) := inner(x)`, `inner(x) := lower(x)`), "text(...) is a string, " + always},
		{allowIf(`f(input.args.to)`, `f(x) := "yes" if x == "alice"`, `f(x) := "no" if x != "alice"`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.to)`, `f(x) := "yes" if x == "alice"`, `f(x) := "no" if "alice" != x`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.to)`, `f("alice") := "yes"`, `f(x) := "no" if x != "alice"`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.to, input.principal.id)`, `f(x, y) := "yes" if x == y`, `f(x, y) := "no" if y != x`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.amount)`, `f(x) := "yes" if x > 5`, `f(x) := "no" if 5 >= x`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.lines)`, `f(x) := "yes" if count(x) > 5`, `f(x) := "no" if count(x) <= 5`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.to)`, `f(x) := "yes" if x in {"a", "b"}`, `f(x) := "no" if not x in {"a", "b"}`), "f(...) is a string, " + always},
		{allowIf(`f(input.args.amount)`, `big(x) if x > 5`, `f(x) := "yes" if big(x)`, `f(x) := "no" if not big(x)`), "f(...) is a string, " + always},
		{allowIf(`limit`, `limit := 10 if input.args.urgent`, `limit := 20 if not input.args.urgent`), "limit is a number, " + always},
		{allowIf(`r`, `r := {"to": input.args.to}`), "r is an object, " + always},
		{allowIf(`r`, `r := [input.args.to, input.args.amount]`), "r is an array, " + always},
		{allowIf(`not r`, `r := {"to": input.args.to, "all": [input.args.amount]}`), "not r " + never},
		{allowIf(`"no"`), `"no" is a string, ` + always},
		{allowIf(`0`), "0 is a number, " + always},
		{allowIf(`null`), "null is null, " + always},
		{allowIf(`{"a"} & {t | some t in input.args.lines}`), "this value is a set, " + always},

		{allowIf(`f(input.args.to)`, `f(x) := "yes" if x == "alice"`, `f(x) := "no" if x != "bob"`), whenever},
		{allowIf(`f(input.args.amount)`, `f(x) := "yes" if x > 5`, `f(x) := "no" if x < 5`), whenever},
		{allowIf(`f(input.args.amount)`, `f(x) := "yes" if x > 5`, `f(x) := "no" if { x <= 5; x > 1 }`), whenever},
		{allowIf(`f(input.args.to)`, `f(x) := conf.users[x].team if x == "alice"`, `f(x) := "no" if x != "alice"`), whenever},
		{allowIf(`f(input.args.note)`, `f(x) := "yes" if x == "alice"`, `f(x) := "no" if x != "alice"`), whenever},
		{allowIf(`of(input.args.to)`, `of(x) := inner(x)`, `inner(x) := conf.users[x]`), whenever},
		{allowIf(`r`, `r := {"note": input.args.note}`), whenever},
		{allowIf(`teams[input.args.to]`, `teams[t] contains id if { some id, u in conf.users; t := u.team }`), "this value is a set, which is never false"},
		{allowIf(`not teams`, `teams[t] contains id if { some id, u in conf.users; t := u.team }`), "teams is an object, which is never false: not teams never holds"},
		{allowIf(`not r`, `r := {"note": input.args.note}`), ""},
		{allowIf(`f(input.args.to)`, `f(x) := inner(x)`, `inner(x) := true if x == "alice"`, `inner(x) := false if x != "alice"`), ""},
		{allowIf(`on; input.args.amount > 5`, `on := true`), ""},
		{allowIf(`on(1); ok(input.args.amount)`, `on(_) := true`, `ok(x) if { x > 5 } else := true`), ""},
		{allowIf(`on; input.args.amount > 5`, `on if true`), "warning constant_condition"},
		{allowIf(`not n(input.args.to)`, `n(x) := count(x)`), never},
		{allowIf(`n(input.args.note)`, `n(x) := count(x)`), whenever},
		{allowIf(`limit(input.args.to)`, `limit(x) := conf.users[x]`), whenever},
		{allowIf(`input.args.amount + 1`), "is a number, " + always},
		{allowIf(`not trusted`, `trusted contains n if { some n in {"alice"}; n == input.principal.id }`), "not trusted " + never + " (write count(trusted) == 0)"},
		{allowIf(`not deny`, regotest.When(`input.args.amount > 5`)), "not deny " + never},
		{allowIf(`not {t | some t in input.args.lines; t == "tax"}`), never},
		{allowIf(`not [t | some t in input.args.lines; t == "tax"]`), never},
		{allowIf(`not count(input.args.lines)`), never},
		{allowIf(`not names(input.args.to)`, `names(x) := {n | some n in {"alice"}; n == x}`), "not names(...) " + never},
		{allowIf(`not input.args.amount`), never},
		{allowIf(`not level`, `default level := "none"`, `level := "high" if input.args.amount > 5`), never},
		{allowIf(`not data.ambit.tools.pay.deny`, regotest.When(`input.args.amount > 5`)), "not deny " + never},

		{allowIf(`conf.users[input.principal.id]`), whenever},
		{allowIf(`conf.users[input.principal.id]`), "(if it asks whether there is such a key, say so: write key in object.keys(...))"},
		{allowIf(`input.args.note`), whenever},
		{allowIf(`count(input.args.tags)`), whenever},
		{allowIf(`level`, `level := "high" if input.args.amount > 5`), whenever},
		{allowIf(`input.args.lines[0]`), whenever},
		{allowIf(`exists(conf.users[input.principal.id])`, `exists(x) if x`), whenever},
		{allowIf(`input.args.lines[_]`), whenever},

		{allowIf(`input.args.urgent`), ""},
		{allowIf(`not input.args.urgent`), ""},
		{allowIf(`trusted[input.principal.id]`, `trusted contains n if { some n in {"alice"}; n == input.args.to }`), ""},
		{allowIf(`not trusted[input.principal.id]`, `trusted contains n if { some n in {"alice"}; n == input.args.to }`), ""},
		{allowIf(`ok`, `default ok := false`, `ok if input.args.amount > 5`), ""},
		{allowIf(`ok`, `ok if input.args.amount > 5`), ""},
		{allowIf(`not ok(input.args.to)`, `ok(x) if x == "alice"`), ""},
		{allowIf(`not input.args.note`), ""},
		{allowIf(`not conf.users[input.principal.id]`), ""},
		{allowIf(`conf.users[input.principal.id]; conf.users[input.principal.id].limit > 3`), ""},
		{allowIf(`startswith(input.args.to, "a"); regex.match("^a", input.args.to); is_string(input.args.to)`), ""},
		{allowIf(`conf.flag`), ""},
		{allowIf(`conf.blocked`), "conf.blocked is an array, " + always},
		{allowIf(`data.ambit.declared.reasons.no`), whenever},
		{allowIf(`object.get(input.args, "urgent", false)`), ""},
		{allowIf(`count({k | conf.users[k]}) > 1`), ""},
		{allowIf(`some k; conf.users[k]; k == input.args.to`), whenever},
		{allowIf(`input.undo`), ""},
		{allowIf(`walk(input.args, [_, v]); v == "x"`), ""},
	})
}

// What can never match is an error: the rule never applies.
func TestNeverEqual(t *testing.T) {
	const weekday = `time.weekday([input.now_ns, "Europe/Berlin"])`
	levels := []string{`level := "high" if input.args.amount >= 100`, `level := "low" if input.args.amount < 100`}
	check(t, []verdict{
		{regotest.When(weekday + ` == "sunday"`), `time.weekday(...) is never "sunday" (did you mean "Sunday"?)`},
		{regotest.When(`"sunday" == ` + weekday), `time.weekday(...) is never "sunday"`},
		{regotest.When(weekday + ` != "sunday"`), `is never "sunday"`},
		{regotest.When(`day := ` + weekday + `; day == "Sun"`), `is never "Sun"`},
		{regotest.When(weekday + ` in {"Saturday", "sunday"}`), `is never "sunday"`},
		{regotest.When(weekday + ` in conf.days`), `conf/data.json:1:`},
		{regotest.When(`is_day(`+weekday+`)`, `is_day(d) if d == "SUNDAY"`), `is never "SUNDAY"`},
		{regotest.When(`day == "sunday"`, `day := `+weekday), `is never "sunday"`},
		{regotest.When(`level == "hihg"`, levels...), `level is never "hihg" (did you mean "high"?)`},
		{regotest.When(`"hihg" == level`, levels...), `level is never "hihg"`},
		{regotest.When(`level != "hihg"`, levels...), `level is never "hihg"`},
		{regotest.When(`level in {"hihg", "low"}`, levels...), `level is never "hihg"`},
		{regotest.When(`l := level; l == "hihg"`, levels...), `is never "hihg"`},
		{regotest.When(`risk(input.args.amount) == "hihg"`, `risk(x) := "high" if { x >= 100 } else := "low"`), `is never "hihg"`},
		{regotest.When(`level == "hihg"`, append(levels, `default level := "none"`)...), `level is never "hihg"`},
		{regotest.When(`level == 1`, levels...), `match error`},
		{regotest.When(`lower(input.args.to) == "Mallory"`), `lower(...) is never "Mallory" (write "mallory": it is what lower makes)`},
		{regotest.When(`lower(input.args.to) in {"bob", "Mallory"}`), `is never "Mallory"`},
		{regotest.When(`"Mallory" in {lower(t) | some t in input.args.lines}`), `is never "Mallory"`},
		{regotest.When(`upper(input.args.to) == "Mallory"`), `is never "Mallory"`},
		{regotest.When(`upper(input.args.currency) == "EURO"`), `is never "EURO"`},
		{regotest.When(`trim_space(input.args.to) == " bob"`), `is never " bob"`},
		{regotest.When(`trim(input.args.to, "/") == "/etc"`), `is never "/etc"`},
		{regotest.When(`trim_space(lower(input.args.to)) == "Bob"`), `is never "Bob"`},
		{regotest.When(`type_name(input.args.to) == "integer"`), `type_name(...) is never "integer"`},
		{regotest.When(`object.get(input.args, "currency", "EUR") == "EURO"`), `input.args.currency is never "EURO"`},
		{regotest.When(`c := object.get(input.args, "currency", "EUR"); c == "EURO"`), `is never "EURO"`},
		{regotest.When(`object.get(input.args, "count", 0) > "1000"`), `is a number, and it is compared with a string (write 1000, without quotes)`},
		{regotest.When(`object.get(input.args, "tags", []) == {"blocked"}`), `is an array, and it is compared with a set`},
		{regotest.When(`some i in object.get(input.args, "items", []); i.prise > 5`), `has no member "prise"`},
		{regotest.When(`some i in object.get(input.args, "items", []); object.get(i, "prise", 0) > 5`), `has no member "prise"`},
		{regotest.When(`object.get(input.args, ["card", "brand"], "visa") == "amex"`), `input.args.card.brand is never "amex"`},
		{regotest.When(`"mallory" in input.args.to`), `input.args.to is a string, which has no elements: in never finds anything there (write contains(input.args.to, ...)`},
		{regotest.When(`not "mallory" in input.args.to`), `has no elements`},
		{regotest.When(`input.args.to in conf.names`), `conf/data.json:1:`},
		{regotest.When(`has(conf.names, input.args.to)`, `has(list, x) if x in list`), `conf/data.json:1:`},
		{regotest.When(`input.args.to in conf.most`), `is null, which has no elements`},
		{regotest.When(`some n in conf.names; input.args.to == n`), `conf/data.json:1:39: data.conf.names is a string, which has no elements: an index never finds anything there`},
		{regotest.When(`some n in conf.most; input.args.to == n`), `is null, which has no elements`},
		{regotest.When(`some n in conf.users.alice.limit; input.args.to == n`), `is a number, which has no elements`},
		{regotest.When(`conf.names[_] == input.args.to`), `is a string, which has no elements`},
		{regotest.When(`conf.names[input.args.to]`), `is a string, which has no elements`},
		{regotest.When(`not conf.names[input.args.to]`), `is a string, which has no elements`},
		{regotest.When(`some i; conf.names[i] == input.args.to`), `is a string, which has no elements`},
		{regotest.When(`some i, n in conf.names; n == input.args.to`), `is a string, which has no elements`},
		{regotest.When(`all := conf.names; some n in all; n == input.args.to`), `is a string, which has no elements`},
		{regotest.When(`has(conf.names, input.args.to)`, `has(list, x) if list[_] == x`), `is a string, which has no elements`},
		{regotest.When(`{n | some n in conf.names} & {input.args.to} != set()`), `is a string, which has no elements`},
		{regotest.When(`some u in conf.users; u.team[_] == input.args.to`), `is a string, which has no elements`},
		{regotest.When(`every n in conf.names { n != input.args.to }`), `is a string, which has no elements`},
		{regotest.When(`every n in conf.most { n != input.args.to }`), `is null, which has no elements`},
		{regotest.When(`"x" in lower(input.args.to)`), `lower(...) is a string, which has no elements`},
		{regotest.When(`object.get(input.args, "tags", []) in {"blocked"}`), `is an array, and it is compared with a string`},
		{regotest.When(`input.args.lines in {"tax"}`), `is an array`},
		{regotest.When(`input.args.amount > conf.most`), `conf/data.json:1:`},
		{regotest.When(`object.get(input.args, "count", 0) >= conf.most`), `and it is compared with null`},
		{regotest.When(`regex.match("^eur$", input.args.currency)`), `regex.match(...) never holds: input.args.currency has no value that matches`},
		{regotest.When(`startswith(input.args.currency, "eu")`), `startswith(...) never holds`},
		{regotest.When(`contains(level, "mid")`, levels...), `contains(...) never holds`},
		{regotest.When(`regex.match("^[A-Z]+$", lower(input.args.to))`), `lower(...) never matches`},
		{regotest.When(`startswith(lower(input.args.to), "Mallory")`), `lower(...) never matches`},
		{regotest.When("regex.match(`a^b`, input.args.to)"), `no text matches`},
		{regotest.When("regex.match(`a$b`, input.args.to)"), `no text matches`},
		{regotest.When(`glob.match("E*", [], lower(input.args.to))`), `lower(...) never matches`},

		{regotest.When(`ambit.url.host(input.args.to) == "Example.com"`), `ambit.url.host(...) is never "Example.com" (write "example.com": it is what ambit.url.host makes)`},
		{regotest.When(`ambit.url.host(input.args.to) in {"a.example", "Example.com"}`), `is never "Example.com"`},
		{regotest.When(`ambit.url.host(input.args.to) in hosts`, `hosts := ["Example.com"]`), `is never "Example.com"`},
		{regotest.When(`ambit.url.host(input.args.to) in conf.hosts`), `conf/data.json:1:`},
		{regotest.When(`h := ambit.url.host(input.args.to); h == "example.com:443"`), `is never "example.com:443" (write "example.com"`},
		{regotest.When(`ambit.url.host(input.args.to) == "https://example.com"`), `is never "https://example.com"`},
		{regotest.When(`ambit.url.host(input.args.to) == "example.com/"`), `is never "example.com/"`},
		{regotest.When(`endswith(ambit.url.host(input.args.to), ".Example.com")`), `ambit.url.host(...) never matches ".Example.com"`},
		{regotest.When("regex.match(`^Docs`, ambit.url.host(input.args.to))"), `never matches`},
		{regotest.When(`ambit.url.scheme(input.args.to) == "HTTPS"`), `is never "HTTPS" (write "https": it is what ambit.url.scheme makes)`},
		{regotest.When(`ambit.url.scheme(input.args.to) == "https:"`), `is never "https:"`},
		{regotest.When(`ambit.url.scheme(input.args.to) != "HTTPS"`), `is never "HTTPS"`},
		{regotest.When(`ambit.url.path(input.args.to) == "admin"`), `is never "admin" (write "/admin"`},
		{regotest.When(`ambit.path.clean(input.args.to) == "docs/"`), `is never "docs/" (write "docs": it is what ambit.path.clean makes)`},
		{regotest.When(`ambit.path.clean(input.args.to) == "docs/../etc"`), `is never "docs/../etc" (write "etc"`},
		{regotest.When(`ambit.path.base(input.args.to) == "a/b"`), `is never "a/b"`},
		{regotest.When(`ambit.path.ext(input.args.to) == "exe"`), `is never "exe" (write ".exe": it is what ambit.path.ext makes)`},

		{regotest.When(`ambit.url.host(input.args.to) == "example.com"`), ""},
		{regotest.When(`ambit.url.host(input.args.to) in {"a.example", "127.0.0.1", "xn--bcher-kva.example"}`), ""},
		{regotest.When(`ambit.url.scheme(input.args.to) in {"https", "http", "mailto", "file"}`), ""},
		{regotest.When(`ambit.url.path(input.args.to) in {"/", "/admin", "/a b/", "/50%"}`), ""},
		{regotest.When(`ambit.path.clean(input.args.to) in {"docs", "/docs", "docs/a.md", "/", "."}`), ""},
		{regotest.When(`ambit.path.base(input.args.to) in {"a.md", ".env"}`), ""},
		{regotest.When(`ambit.path.ext(input.args.to) in {".exe", ""}`), ""},
		{regotest.When(`endswith(ambit.url.host(input.args.to), ".example.com")`), ""},
		{regotest.When(weekday + ` == "Sunday"`), ""},
		{regotest.When(weekday + ` in {"Saturday", "Sunday"}`), ""},
		{regotest.When(`level == "high"`, levels...), ""},
		{regotest.When(`level in {"high", "low"}`, levels...), ""},
		{regotest.When(`level in serious`, append(levels, `serious := {"high", "critical"}`)...), ""},
		{regotest.When(`conf.level == "lenient"`), ""},
		{regotest.When(`lower(input.args.to) == "mallory"`), ""},
		{regotest.When(`upper(input.args.currency) == "EUR"`), ""},
		{regotest.When(`object.get(input.args, "currency", "") == ""`), ""},
		{regotest.When(`object.get(input.args, "note", null) == null`), ""},
		{regotest.When(`object.get(input.args, "note", null) != null`), ""},
		{regotest.When(`object.get(input.args, "tags", []) == ["blocked"]`), ""},
		{regotest.When(`object.get(input.args, "tags", []) == []`), ""},
		{regotest.When(`"x" in object.get(input.args, "tags", [])`), ""},
		{regotest.When(`not input.args.to in teams.a; not teams.a[input.args.to]; count(teams.a) > 1`, `teams[t] contains id if { some id, u in conf.users; t := u.team }`), ""},
		{regotest.When(`some t, ids in teams; input.args.to in ids; t == "a"`, `teams[t] contains id if { some id, u in conf.users; t := u.team }`), ""},
		{regotest.When(`input.args.to in caps.names; "x" in more.a.b`, `caps.names contains "x" if input.args.amount > 5`, `more[a][b] contains c if { some a, b in conf.list; some c in conf.days }`), ""},
		{regotest.When(`input.args.to in conf.blocked`), ""},
		{regotest.When(`some n in conf.blocked; n == input.args.to`), ""},
		{regotest.When(`conf.users[input.args.to].limit > 3`), ""},
		{regotest.When(`every n in conf.blocked { n == input.args.to }`), ""},
		{regotest.When(`count(conf.names) > 5`), ""},
		{regotest.When(`input.args.to in names`, `names contains n if { is_array(conf.names); some n in conf.names }`, `names contains conf.names if is_string(conf.names)`), ""},
		{regotest.When(`input.args.to in object.keys(conf.users)`), ""},
		{regotest.When(`some i in object.get(input.args, "items", []); i.name == "x"`), ""},
		{regotest.When("regex.match(`^(EUR|USD)$`, input.args.currency)"), ""},
		{regotest.When("regex.match(`(?i)^M`, lower(input.args.to))"), ""},
		{regotest.When("regex.match(`^a.*b$`, input.args.to)"), ""},
		{regotest.When(`type_name(input.args.to) == "string"`), ""},
		{regotest.When(`trim_prefix(input.args.to, "a") == "ab"`), ""},
		{regotest.When(`trim_space(input.args.to) == "bob smith"`), ""},
	})
}

// An inequality with one element of several holds for nearly everybody.
func TestInequalitiesWithSomeElement(t *testing.T) {
	const wrong = "whenever the list has two: this is not that it differs from all"
	blocked := `blocked := ["alice", "bob"]`
	check(t, []verdict{
		{allowIf(`input.args.to != blocked[_]`, blocked), "t.rego:8:2: input.args.to differs from one element of blocked " + wrong},
		{allowIf(`blocked[_] != input.args.to`, blocked), wrong},
		{allowIf(`some n in blocked; n != input.args.to`, blocked), wrong},
		{allowIf(`some n in blocked; input.args.to != n`, blocked), wrong},
		{allowIf(`some i; blocked[i] != input.args.to`, blocked), wrong},
		{allowIf(`some n in {"alice", "bob"}; n != input.args.to`), wrong},
		{allowIf(`some n in conf.blocked; n != input.args.to`), wrong},
		{allowIf(`input.args.to != conf.blocked[_]`), wrong},
		{regotest.When(`some n in conf.blocked; n != input.args.to`), wrong},
		{allowIf(`some n in blocked; not n == input.args.to`, blocked), wrong},
		{allowIf(`some n in names; n != input.args.to`, `names contains n if some n in ["alice", "bob"]`), wrong},
		{allowIf(`list := conf.blocked; some n in list; to := input.args.to; n != to`), wrong},
		{allowIf(`differs(input.args.to, blocked)`, blocked, `differs(x, list) if x != list[_]`), wrong},
		{allowIf(`some n in blocked; differs(input.args.to, n)`, blocked, `differs(x, y) if x != y`), wrong},
		{allowIf(`other`, blocked, `other if { some n in blocked; n != input.args.to }`), wrong},
		{allowIf(`count([1 | some n in blocked; n != input.args.to]) > 0`, blocked), wrong},
		{allowIf(`count([l | some l in object.get(input.args, "tags", []); l != blocked[_]]) > 0`, blocked), wrong},
		{allowIf(`some id, user in conf.users; id != input.args.to`), wrong},
		{allowIf(`some id, _ in conf.users; id != input.args.to`), wrong},
		{allowIf(`some n in blocked; n != object.get(input.args, "note", "")`, blocked), wrong},

		{allowIf(`some n in blocked; lower(n) != lower(input.args.to)`, blocked), "lower(...) differs from one element of blocked " + wrong},
		{allowIf(`some n in blocked; lower(n) != input.args.to`, blocked), "(write every element in blocked { ... }, with this inequality in it)"},
		{allowIf(`some n in blocked; m := lower(n); m != input.args.to`, blocked), wrong},
		{allowIf(`some n in blocked; m := n; k := lower(m); input.args.to != trim_space(k)`, blocked), wrong},
		{allowIf(`some n in {"alice", "bob"}; input.args.to != concat("@", [n, "x"])`), wrong},
		{allowIf(`some n in blocked; input.args.to != sprintf("%s@x", [n])`, blocked), wrong},
		{allowIf(`some n in blocked; not lower(n) == lower(input.args.to)`, blocked), wrong},
		{allowIf(`lower(input.args.to) != lower(blocked[_])`, blocked), wrong},
		{allowIf(`some n in conf.blocked; lower(n) != lower(input.args.to)`), wrong},
		{allowIf(`some u in conf.users; lower(u.team) != lower(input.args.to)`), wrong},
		{allowIf(`some u in conf.users; object.get(u, "team", "") != input.args.to`), wrong},
		{allowIf(`some n in blocked; split(n, "@")[0] != input.args.to`, blocked), wrong},
		{allowIf(`some n in blocked; plain(n) != plain(input.args.to)`, blocked, `plain(x) := lower(x)`), wrong},
		{allowIf(`some n in blocked; differs(lower(n), input.args.to)`, blocked, `differs(x, y) if x != y`), wrong},
		{allowIf(`some n in blocked; differs(n, input.args.to)`, blocked, `differs(x, y) if lower(x) != lower(y)`), wrong},
		{allowIf(`some n in blocked; not same(n, input.args.to)`, blocked, `same(a, b) if a == b`), wrong},
		{allowIf(`some n in blocked; not same(n, input.args.to)`, blocked, `same(a, b) if lower(a) == lower(b)`), wrong},
		{allowIf(`some n in blocked; not same(n, input.args.to)`, blocked, `same(a, b) if like(a, b)`, `like(a, b) if a == b`), wrong},

		{allowIf(`some l in input.args.lines; l != "tax"`), "warning not_equal_in_loop"},
		{allowIf(`some l in input.args.lines; lower(l) != "tax"`), "warning not_equal_in_loop"},
		{allowIf(`input.args.lines[_] != "tax"`), "warning not_equal_in_loop"},
		{regotest.When(`some l in object.get(input.args, "tags", []); some n in conf.list; l != n`), "warning not_equal_in_loop"},
		{allowIf(`some n in ["alice"]; n != input.args.to`), "warning not_equal_in_loop"},

		{regotest.When(`some l in input.args.lines; l != "tax"`), ""},
		{regotest.When(`input.args.lines[_] != "tax"`), ""},
		{allowIf(`not odd`, `odd if { some l in input.args.lines; l != "tax" }`), ""},
		{allowIf(`not input.args.to in blocked`, blocked), ""},
		{regotest.When(`some l in input.args.lines; lower(l) != "tax"`), ""},
		{regotest.When(`some f in {"note", "code"}; object.get(input.args, f, "x") != "x"`), ""},
		{regotest.When(`some n in conf.blocked; indexof(input.args.to, n) != -1`), ""},
		{regotest.When(`some n in conf.blocked; trim_prefix(input.args.to, n) != input.args.to`), ""},
		{regotest.When(`some n in conf.blocked; not has(n)`, `has(n) if { some l in object.get(input.args, "tags", []); l == n }`), ""},
		{regotest.When(`some n in conf.blocked; not has(n)`, `has(n) if input.args.to == n`, `has(n) if input.principal.id == n`), ""},
		{regotest.When(`some l in object.get(input.args, "tags", []); not has(l)`, `has(l) if { some n in conf.list; lower(l) == n }`), ""},
		{allowIf(`every n in blocked { lower(n) != lower(input.args.to) }`, blocked), ""},
		{allowIf(`every n in blocked { not same(n, input.args.to) }`, blocked, `same(a, b) if a == b`), ""},
		{allowIf(`not listed`, blocked, `listed if { some n in blocked; same(n, input.args.to) }`, `same(a, b) if a == b`), ""},
		{allowIf(`some n in blocked; same(n, input.args.to)`, blocked, `same(a, b) if lower(a) == lower(b)`), ""},
		{allowIf(`some u in conf.users; lower(u.team) == lower(input.principal.id); upper(u.team) != upper(input.args.to)`), ""},
		{allowIf(`some id, u in conf.users; same(id, input.principal.id); lower(u.team) != input.args.to`, `same(a, b) if a == b`), ""},
		{allowIf(`others := {lower(n) | some n in conf.blocked; lower(n) != lower(input.args.to)}; count(others) > 1`), ""},
		{allowIf(`some n in blocked; lower(n) == lower(input.args.to)`, blocked), ""},
		{allowIf(`{lower(n) | some n in blocked} != {input.args.to}`, blocked), ""},
		{allowIf(`every n in blocked { n != input.args.to }`, blocked), ""},
		{allowIf(`some u in conf.users; u.limit > 3; u.team != input.args.to`), ""},
		{allowIf(`some id, u in conf.users; id == input.principal.id; u.team != input.args.to`), ""},
		{allowIf(`some i; conf.blocked[i] == input.args.to; conf.list[i] != "x"`), ""},
		{allowIf(`others := {n | some n in conf.blocked; n != input.args.to}; count(others) > 1`), ""},
		{allowIf(`count(others) > 1`, `others contains n if { some n in conf.blocked; n != input.args.to }`), ""},
		{allowIf(`conf.blocked[0] != input.args.to`), ""},
		{allowIf(`conf.users[input.principal.id].team != input.args.to`), ""},
		{allowIf(`input.args.to != "bob"`), ""},
	})
}

// Texts and patterns that are not what they read.
func TestFormatsAndPatterns(t *testing.T) {
	message := func(text string) string {
		return `deny contains {"code": "no", "message": ` + text + `} if input.args.amount > 5`
	}
	check(t, []verdict{
		{message(`sprintf("%d of %d", [input.args.amount])`), `"%d of %d" has other verbs than the one value that it is given: the text would have %!d(MISSING)`},
		{message(`sprintf("%d", [input.args.amount, 5])`), `"%d" has fewer verbs than the 2 values`},
		{message(`sprintf("nothing", [1])`), `fewer verbs`},
		{message(`sprintf(text, [input.args.amount])`) + "\n\ntext := \"%d of %v\"", `MISSING`},
		{message(`m`) + "\n\nm := sprintf(\"%s\", [])", `MISSING`},
		{message(`sprintf("%[3]d", [1, 2])`), `BADINDEX`},
		{message(`sprintf("100%", [])`), `NOVERB`},
		{message(`sprintf("%d%% of %v", [input.args.amount, 5])`), ""},
		{message(`sprintf("%[1]d and %[1]d", [input.args.amount])`), ""},
		{message(`sprintf("%5.2f|%-8s|%v", [1.5, "a", input.args.lines])`), ""},
		{message(`sprintf("none", [])`), ""},

		{regotest.When(`glob.match("/etc/*", [], input.args.to)`), "warning glob_delimiters"},
		{regotest.When(`some p in ["/etc/*"]; glob.match(p, [], input.args.to)`), "warning glob_delimiters"},
		{regotest.When(`glob.match("/etc/*", ["/"], input.args.to)`), ""},
		{regotest.When(`glob.match("/etc/**", [], input.args.to)`), ""},
		{regotest.When(`glob.match("/etc/*", null, input.args.to)`), ""},

		{allowIf("regex.match(`example\\.com`, input.args.to)"), "warning unanchored_pattern"},
		{allowIf("regex.match(`^docs\\.example\\.com`, ambit.url.host(input.args.to))"), "warning unanchored_pattern"},
		{allowIf("regex.match(`docs`, ambit.url.host(input.args.to))"), "warning unanchored_pattern"},
		{allowIf("regex.match(`^example\\.com`, ambit.url.host(input.args.to))"), "such as example.com.evil.example ("},
		{allowIf("regex.match(`example\\.com$`, ambit.url.host(input.args.to))"), "such as evil-example.com ("},
		{allowIf("regex.match(`(a|b)\\.example\\.com`, ambit.url.host(input.args.to))"), "such as evil-a.example.com.evil.example ("},
		{allowIf("regex.match(`^a\\.com|b\\.com$`, ambit.url.host(input.args.to))"), "such as a.com.evil.example ("},
		{allowIf("regex.match(`^[a-z]+\\.example\\.com`, ambit.url.host(input.args.to))"), "such as a.example.com.evil.example ("},
		{allowIf("regex.match(`https://docs\\.example\\.com`, input.args.to)"), "such as https://evil.example/?https://docs.example.com ("},
		{allowIf("regex.match(`(^|\\.)example\\.com$`, ambit.url.host(input.args.to))"), ""},
		{allowIf("regex.match(`^https://docs\\.example\\.com/`, input.args.to)"), ""},
		{allowIf("regex.match(`[a-z]+\\.md$`, input.args.to)"), ""},

		{`first := input.args.lines[_]` + "\n\n" + allowIf(`first == "tax"`), "warning top_level_iteration"},
		{`all contains input.args.lines[_]` + "\n\n" + allowIf(`"tax" in all`), ""},
		{allowIf(`1 == 1`), "warning constant_condition"},
		{allowIf(`true`), "warning constant_condition"},
		{allowIf(`"a" != "b"; input.args.amount > 5`), "warning constant_condition"},
		{`allow contains {"code": "ok", "message": "m"}`, ""},
	})
}

// A policy knows a tool by its name alone: an alias and an earlier name are those of no foreign tool.
func TestOtherNamesOfATool(t *testing.T) {
	fsys, err := regotest.Generate(strings.Replace(regotest.Shop, "    description: Pay.\n", "    description: Pay.\n    alias: payNow\n    renamed_from: [spend]\n", 1))
	require.NoError(t, err)
	allow := "\n\nallow contains {\"code\": \"a\", \"message\": \"m\"} if data.named.risky[input.tool.name]\n"
	for policy, want := range map[string]string{
		"package ambit.policies.org\n\n" + regotest.When(`input.tool.name == "payNow"`):                                `input.tool.name is never "payNow", the alias of pay (write "pay": policies see the name of the tool)`,
		"package ambit.policies.org\n\n" + regotest.When(`input.tool.name in {"refund", "spend"}`):                     `input.tool.name is never "spend", an earlier name of pay`,
		"package ambit.policies.org\n\n" + regotest.When(`input.tool.name in names`, `names := {"payNow", "invoice"}`): `is never "payNow", the alias of pay`,
		"package ambit.policies.org\n\n" + regotest.When(`input.run.counts.payNow > 3`):                                `(write "pay": payNow is the alias of it)`,
		"package ambit.tools.payNow\n\n" + regotest.When(`input.args.amount > 3`):                                      `(write package ambit.tools.pay: payNow is the alias of it)`,
		"package ambit.tools.spend\n\n" + regotest.When(`input.args.amount > 3`):                                       `(write package ambit.tools.pay: spend is an earlier name of it)`,
		"package ambit.policies.org" + allow:                                                                           `named/data.json:1:12: input.tool.name is never "payNow"`,
	} {
		fsys["named/data.json"] = regotest.Text(`{"risky": {"payNow": true, "pay": true}}`)
		if !strings.Contains(policy, "data.named") {
			delete(fsys, "named/data.json")
		}
		fsys["t.rego"] = regotest.Text(policy)
		assert.ErrorContains(t, checkDir(fsys), want, policy)
	}
}

// An entry whose member is of another kind would end each of its calls in an error.
func TestKindsOfEntries(t *testing.T) {
	check(t, []verdict{
		{`deny contains {"code": "no", "message": input.args.amount} if input.args.amount > 5`, `"message" of deny must be a string, and is a number`},
		{`deny contains {"code": "no", "message": m} if { m := input.args.amount; m > 5 }`, `"message" of deny must be a string, and is a number`},
		{`deny contains {"code": "no", "message": object.get(input.args, "count", 0)} if input.args.amount > 5`, `"message" of deny must be a string, and is a number`},
		{`deny contains {"code": "no", "message": count(input.args.lines)} if input.args.amount > 5`, `"message" of deny must be a string`},
		{`deny contains {"code": "no", "message": text(input.args.amount)} if input.args.amount > 5` + "\n\ntext(x) := x + 1", `"message" of deny must be a string`},
		{`ask contains {"id": "a", "message": "m", "approvers": input.args.to} if input.args.amount > 5`, `"approvers" of ask must be a list of strings, and is a string`},
		{`ask contains {"id": "a", "message": "m", "quorum": input.args.to} if input.args.amount > 5`, `"quorum" of ask must be an integer, and is a string`},
		{`deny contains {"code": "no", "message": input.args.to} if input.args.amount > 5`, ""},
		{`ask contains {"id": "a", "message": "m", "approvers": input.args.lines} if input.args.amount > 5`, ""},
	})
}

// A tool that no rule can allow is found by the names that rules for all tools keep to.
func TestClosedTools(t *testing.T) {
	for _, test := range []struct {
		condition string
		want      []string
	}{
		{`input.tool.name in {"pay"}`, []string{"refund"}},
		{`input.tool.name == "pay"`, []string{"refund"}},
		{`"pay" == input.tool.name`, []string{"refund"}},
		{`input.tool.name in names`, []string{"refund"}},
		{`listed`, []string{"refund"}},
		{`input.tool.name in data.named.tools`, []string{"refund"}},
		{`names[input.tool.name]`, []string{"refund"}},
		{`of(input.tool.name)`, []string{"refund"}},
		{`not input.tool.name in {"refund"}`, []string{"refund"}},
		{`input.tool.name != "refund"`, []string{"refund"}},
		{`input.tool.name in {"invoice_pay"}`, []string{"pay", "refund"}},
		{`input.tool.effect == "write"`, nil},
		{`input.args.amount < 5`, nil},
		{`not input.tool.name in {"order_find"}`, nil},
	} {
		fsys := regotest.ShopDir(t)
		fsys["named/data.json"] = regotest.Text(`{"tools": ["pay"]}`)
		rules := ""
		for name, rule := range map[string]string{"names": `names := {"pay"}`, "listed": `listed if input.tool.name == "pay"`, "of(": `of(name) if name == "pay"`} {
			if strings.Contains(test.condition, name) {
				rules += rule + "\n\n"
			}
		}
		fsys["t.rego"] = regotest.Text("package ambit.policies.desk\n\n" + rules + allowIf(test.condition))
		report, err := Check(fsys)
		require.NoError(t, err)
		require.NoError(t, report.Err(), test.condition)
		assert.ElementsMatch(t, test.want, report.Closed, test.condition)
	}
}
