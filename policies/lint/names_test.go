package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// forms are conditions, and more rules, in which a part of the input, %[1]s, is
// compared with a misspelt value, %[2]s, or a right one, %[3]s.
var forms = []struct{ condition, more string }{
	{`%[1]s == "%[2]s"`, ""},
	{`"%[2]s" == %[1]s`, ""},
	{`not %[1]s == "%[2]s"`, ""},
	{`%[1]s != "%[2]s"`, ""},
	{`%[1]s in {"%[2]s", "%[3]s"}`, ""},
	{`not %[1]s in ["%[3]s", "%[2]s"]`, ""},
	{`%[1]s == wanted`, `wanted := "%[2]s"`},
	{`wanted := "%[2]s"; %[1]s == wanted`, ""},
	{`%[1]s in wanted`, `wanted := {"%[2]s", "%[3]s"}`},
	{`%[1]s in wanted`, `wanted := ["%[3]s", "%[2]s"]`},
	{`not %[1]s in wanted`, `wanted := {"%[2]s"}`},
	{`wanted[%[1]s]`, `wanted := {"%[2]s", "%[3]s"}`},
	{`wanted := {"%[2]s"}; wanted[%[1]s]`, ""},
	{`wanted := {"%[2]s"}; not wanted[%[1]s]`, ""},
	{`wanted[_] == %[1]s`, `wanted := ["%[2]s"]`},
	{`some w in ["%[3]s", "%[2]s"]; %[1]s == w`, ""},
	{`some w in wanted; %[1]s == w`, `wanted := {"%[2]s"}`},
	{`some i; wanted[i] == %[1]s; i > 0`, `wanted := ["%[3]s", "%[2]s"]`},
	{`every w in ["%[2]s"] { %[1]s != w }`, ""},
	{`x := %[1]s; x == "%[2]s"`, ""},
	{`x := %[1]s; x in wanted`, `wanted := {"%[2]s"}`},
	{`part == "%[2]s"`, `part := %[1]s`},
	{`part in wanted`, "part := %[1]s\n\n" + `wanted := {"%[2]s"}`},
	{`limits[%[1]s] < 5`, `limits := {"%[2]s": 3, "%[3]s": 4}`},
	{`object.get(limits, %[1]s, 9) < 5`, `limits := {"%[2]s": 3}`},
	{`limits[%[1]s].most < 5`, `limits := {"%[2]s": {"most": 3}}`},
	{`some w, n in limits; %[1]s == w; n < 5`, `limits := {"%[2]s": 3}`},
	{`%[1]s in object.keys(limits)`, `limits := {"%[2]s": 3}`},
	{`limit(%[1]s) < 5`, `limit("%[2]s") := 3`},
	{`limit(%[1]s, 2) < 5`, `limit("%[3]s", _) := 3` + "\n\n" + `limit("%[2]s", n) := n`},
	{`bad(%[1]s)`, `bad(x) if x == "%[2]s"`},
	{`bad(%[1]s)`, `bad(x) if x in {"%[2]s"}`},
	{`bad(%[1]s)`, "bad(x) if worse(x, 1)\n\n" + `worse("%[2]s", _)`},
	{`is("%[2]s")`, `is(x) if %[1]s == x`},
	{`is(%[1]s, "%[2]s")`, `is(x, y) if x == y`},
	{`is(%[1]s, ["%[2]s"])`, `is(x, y) if x in y`},
	{`%[1]s in wanted`, `wanted contains "%[2]s"`},
	{`wanted[%[1]s]`, `wanted contains x if some x in ["%[2]s"]`},
	{`%[1]s in wanted`, "wanted contains \"%[3]s\"\n\n" + `wanted contains "%[2]s" if input.behavior == "x"`},
	{`limits[%[1]s] > 1`, "limits[\"%[3]s\"] := 3\n\n" + `limits["%[2]s"] := 3`},
	{`%[1]s == wanted`, "default wanted := \"%[3]s\"\n\n" + `wanted := "%[2]s" if input.behavior == "x"`},
	{`%[1]s == wanted`, `wanted := "%[3]s" if input.behavior == "x" else := "%[2]s"`},
	{`%[1]s == config.wanted`, `config := {"wanted": "%[2]s", "other": 1}`},
	{`%[1]s in config.deep.wanted`, `config := {"deep": {"wanted": ["%[2]s"]}}`},
	{`%[1]s in wanted`, `wanted := {w | some w in ["%[2]s"]}`},
	{`%[1]s in wanted`, `wanted := {"%[3]s"} | {"%[2]s"}`},
	{`%[1]s in wanted`, `wanted := array.concat(["%[3]s"], ["%[2]s"])`},
	{`%[1]s in wanted`, "one := \"%[2]s\"\n\nwanted := {one, \"%[3]s\"}"},
	{`[a, _] := ["%[2]s", 1]; %[1]s == a`, ""},
	{`count({x | x := %[1]s; x == "%[2]s"}) > 0`, ""},
	{`count([1 | %[1]s == "%[2]s"]) > 0`, ""},
	{`[x, y] := [%[1]s, 1]; x == "%[2]s"; y == 1`, ""},
}

// Load checks names and values behind constants against what the input can be, as it
// checks those that are written in the comparison itself.
func TestNamesBehindConstants(t *testing.T) {
	var table []verdict
	for _, form := range forms {
		for _, part := range []struct{ part, wrong, right string }{
			{"input.tool.name", "pya", "refund"}, {"input.args.currency", "EURO", "EUR"},
			{"input.tool.effect", "wirte", "write"}, {"input.args.card.brand", "vsia", "visa"}, {"input.args.way.kind", "crad", "card"},
		} {
			fill := func(s string) string {
				return strings.NewReplacer("%[1]s", part.part, "%[2]s", part.wrong, "%[3]s", part.right).Replace(s)
			}
			table = append(table,
				verdict{regotest.When(fill(form.condition), fill(form.more)), fmt.Sprintf("%s is never %q", part.part, part.wrong)})
			part.wrong = part.right
			table = append(table, verdict{regotest.When(fill(form.condition), fill(form.more)), ""})
		}
	}
	judge(t, orgHeader, table)
}

// Load checks values of base data in the same way, and reports their position.
func TestNamesInData(t *testing.T) {
	judge(t, orgHeader, []verdict{
		{regotest.When(`input.args.currency == acme.home`), `acme/data.json:2:11: input.args.currency is never "EURO"`},
		{regotest.When(`input.tool.name in acme.risky`), `acme/data.json:2:45: input.tool.name is never "pya"`},
		{regotest.When(`input.tool.name == acme.tool`), `acme/data.json:2:98: input.tool.name is never "pya"`},
		{regotest.When(`acme.limits[input.args.currency] < 5`), `acme/data.json:2:116: input.args.currency is never "EURO"`},
		{regotest.When(`input.args.amount > acme.most`), `acme/data.json:3:72: input.args.amount is a number, and it is compared with a string (write 100, without quotes)`},
		{regotest.When(`acme.spread[input.tool.name].max > 5`), `acme/data.json:4:132: input.tool.name is never "pya"`},
		{regotest.When(`input.args.currency == acme.right`), ""},
		{regotest.When(`input.tool.name in acme.safe`), ""},
		{regotest.When(`acme.rates[input.args.currency] > 3`), ""},
		{regotest.When(`input.args.amount > acme.number`), ""},
		{regotest.When(`input.tool.name in acme.foreign`), ""},
		{regotest.When(`input.args.to in acme.hosts`), ""},
		{regotest.When(`acme.users[input.principal.id].limit > 3`), ""},
	})
}

// What is right, and what nothing is known of, is not refused.
func TestNamesThatAreRight(t *testing.T) {
	var table []verdict
	for _, policy := range []string{
		regotest.When(`input.behavior in {"chat", "reserach"}`), regotest.When(`input.modes.till == "colsed"`), regotest.When(`input.principal.id in {"pya"}`),
		regotest.When(`input.args.to == "EURO"`), regotest.When(`startswith(input.tool.name, "pya")`), regotest.When(`input.args.lines[_] == "tip"`), regotest.When(`"tax" in input.args.lines`),
		regotest.When(`limits[input.args.currency] < 5`, `limits := {"EUR": 3, "default": 4}`) + "allow contains {\"code\": \"x\", \"message\": \"m\"} if input.args.amount < limits[\"default\"]\n",
		regotest.When(`object.get(limits, input.args.currency, limits.other) < 5`, `limits := {"EUR": 3, "other": 4}`),
		// One function for two parts of the input, one list for both.
		regotest.When(`is("tool", "pay"); is("currency", "EUR")`, `is("tool", x) if x == input.tool.name`, `is("currency", x) if x == input.args.currency`),
		regotest.When(`is("tool", "pay"); is("currency", "EUR")`, `is(kind, x) if { kind == "tool"; x == input.tool.name }`, `is(kind, x) if { kind == "currency"; x == input.args.currency }`),
		regotest.When(`input.tool.name in names; input.args.currency in names`, `names := {"pay", "EUR"}`),
		regotest.When(`input.args.currency in names; input.args.to in names`, `names := {"EUR", "EURO"}`),
		regotest.When(`same(input.tool.name, "pay"); same(input.args.currency, "EUR")`, `same(x, y) if x == y`),
		regotest.When(`some x in [input.tool.name, input.behavior]; x == "pya"`),
		regotest.When(`x := [input.args.currency, "EURO"][_]; x == "EURO"`),
		regotest.When(`input.args.level in {1, 3}`), regotest.When(`input.args.level == level`, `level := 2`), regotest.When(`input.args.urgent == wanted`, `wanted := true`),
		regotest.When(`input.args.amount > limit`, `limit := 5`), regotest.When(`input.args.amount > limits[input.args.currency]`, `limits := {"EUR": 5, "USD": 6, "GBP": 7}`),
		regotest.When(`limit(input.args.currency) < input.args.amount`, `limit("EUR") := 1`, `limit("USD") := 2`, `default limit(_) := 3`),
		regotest.When(`limit(input.args.currency) < input.args.amount`, `limit(c) := 1 if c == "EUR"`, `limit(c) := 2 if c != "EUR"`),
		regotest.When(`input.args.host in {"EURO", null}`), regotest.When(`object.get(input.args, "host", null) == null`),
		regotest.When(`object.get(input.args, "currency", "none") == "none"`), regotest.When(`x := object.get(input.args, "currency", "none"); x in {"none", "EUR"}`),
		regotest.When(`upper(input.args.currency) == "EUR"`), regotest.When(`concat("", [input.args.currency, "O"]) == "EURO"`),
		regotest.When(`count([c | some c in ["EUR", "EURO"]; c != "EURO"]) == 1`), regotest.When(`"EURO" in {x | some x in acme.hosts}`),
		regotest.When(`data.ambit.declared.tools[input.tool.name].effect == "write"`), regotest.When(`input.tool.name in {t | some t, d in data.ambit.declared.tools; d.effect == "write"}`),
		regotest.When(`some t in data.ambit.declared.tools.pay.capabilities; not input.principal.capabilities[t]`),
		regotest.When(`json.unmarshal("{\"a\": \"EURO\"}").a == input.args.to`), regotest.When(`input.args == {"order": "x", "amount": 1}`),
		regotest.When(`walk(input.args, [path, value]); value == "EURO"; count(path) > 0`), regotest.When(`some k, v in input.args; k == "amount"; v > 3`),
		regotest.When(`input.args.currency == x`, `x := y if { y := "EUR" }`), regotest.When(`input.args[x] == "y"`, `x := "to"`),
		regotest.When(`input.args.currency in allowed[input.behavior]`, `allowed := {"chat": {"EUR"}, "doc": {"USD", "GBP"}}`),
		regotest.When(`not allowed`, `allowed if input.tool.name == "pay"`, `allowed if input.tool.name == "refund"`),
	} {
		table = append(table, verdict{policy, ""})
	}
	judge(t, orgHeader, table)
}

// Constants of another kind than what they are compared with never are equal to it.
func TestKindsBehindConstants(t *testing.T) {
	judge(t, orgHeader, []verdict{
		{regotest.When(`input.args.amount > limit`, `limit := "5"`), `input.args.amount is a number, and it is compared with a string (write 5, without quotes)`},
		{regotest.When(`limits[input.args.currency] < input.args.amount`, `limits := {"EUR": "5"}`), `input.args.amount is a number, and it is compared with a string`},
		{regotest.When(`input.args.urgent == yes`, `yes := "true"`), `input.args.urgent is a boolean, and it is compared with a string (write true, without quotes)`},
		{regotest.When(`input.args.level in levels`, `levels := {"1", "2"}`), `input.args.level is a number, and it is compared with a string`},
		{regotest.When(`input.args.level in levels`, `levels := {1, 7}`), `input.args.level is never 7 (it is one of 1, 2, 3)`},
		{regotest.When(`input.args.to == n`, `n := 5`), `input.args.to is a string, and it is compared with a number (write "5", in quotes)`},
		{regotest.When(`input.args.tags == wanted`, `wanted := {"a"}`), `input.args.tags is an array, and it is compared with a set`},
		{regotest.When(`worth(input.args.amount)`, `worth(n) if n > "100"`), `input.args.amount is a number, and it is compared with a string`},
		{regotest.When(`worth("100")`, `worth(n) if input.args.amount > n`), `input.args.amount is a number, and it is compared with a string`},
		{regotest.When(`"tpi" in input.args.lines`), `input.args.lines[_] is never "tpi"`},
		{regotest.When(`wanted in input.args.lines`, `wanted := "tpi"`), `input.args.lines[_] is never "tpi"`},
		{regotest.When(`some l in input.args.lines; l in wanted`, `wanted := {"tpi"}`), `input.args.lines[_] is never "tpi"`},
		{regotest.When(`wanted[input.args.lines[_]]`, `wanted := {"tpi"}`), `input.args.lines[_] is never "tpi"`},
		{regotest.When(`"monye" in input.tool.capabilities`), `input.tool.capabilities[_] is never "monye"`},
		{regotest.When(`"money" in input.tool.capabilities`), ""},
	})
}

// In the package of a tool, a comparison of input.tool.name that holds for no call of
// that tool is refused.
func TestNamesInPackagesOfTools(t *testing.T) {
	alone(t, "pay", []verdict{
		{regotest.When(`input.args.currency in risky`, `risky := {"EURO"}`), `input.args.currency is never "EURO"`},
		{regotest.When(`input.tool.name in risky`, `risky := {"nothing_like_it"}`), `input.tool.name is never "nothing_like_it"`},
		{regotest.When(`input.tool.name == "refund"`), `package ambit.tools.pay is about calls of pay alone, and this never holds for them`},
		{regotest.When(`input.tool.name in risky`, `risky := {"refund", "order_find"}`), `package ambit.tools.pay is about calls of pay alone`},
		{regotest.When(`input.tool.name in risky`, `risky := {"refund", "pay"}`), ""},
		{regotest.When(`not input.tool.name == "refund"`), ""},
		{regotest.When(`input.args.currency in risky`, `risky := {"EUR"}`), ""},
	})
}

// In a package that several applications share, the name of a tool that is like
// none here is a warning; one that is misspelt is not.
func TestForeignNames(t *testing.T) {
	fsys := regotest.ShopDir(t)
	fsys["o.rego"] = regotest.Text("package ambit.policies.o\n\n" + regotest.When(`input.tool.name == "invoice_archive"`) + regotest.When(`input.tool.name in foreign`, `foreign := {"pay", "mail_send"}`))
	var texts []string
	for _, w := range warned(t, fsys) {
		assert.Equal(t, codeForeignName, w.Code)
		texts = append(texts, w.Error())
	}
	assert.Equal(t, []string{
		`o.rego:4:21: input.tool.name is never "invoice_archive" here (it is one of "order_find", "pay", "refund")`,
		`o.rego:12:20: input.tool.name is never "mail_send" here (it is one of "order_find", "pay", "refund")`,
	}, texts)
}

func TestSimilar(t *testing.T) {
	for name, want := range map[string]string{
		"pya": "pay", "PAY": "pay", "payy": "pay", "pa": "pay", "pat": "", "order-find": "order_find", "orderFind": "order_find", "order_fnid": "order_find",
		"ordr_fnd": "", "order_fidn": "order_find", "order_file": "order_find", "invoice_pay": "", "refnud": "refund", "": "", "x": "", "user_set": "",
	} {
		assert.Equal(t, want, similar(name, []string{"pay", "refund", "order_find"}), name)
	}
}
