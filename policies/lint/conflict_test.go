package lint

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// two returns a rule that asks for a helper, and two rules of the helper.
func two(ask string, rules ...string) string { return regotest.When(ask, rules...) }

// Complete rules and functions that have two values whenever one of them holds
// fail in every decision that asks for them.
func TestRulesWithTwoValues(t *testing.T) {
	const big = `input.args.amount > limit`
	alone(t, "pay", []verdict{
		{two(big, `limit := 5`, `limit := 6`), `limit is 6 here and 5 at t.rego:7, and both hold: a decision that asks for it fails`},
		{two(big, `limit := 5`, `limit := 6 if input.args.urgent`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if input.args.urgent`, `limit := 6`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if input.args.urgent`, `limit := 6 if input.args.urgent`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if input.args.amount > 3`, `limit := 6 if { input.args.to == "x"; input.args.amount > 3 }`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if { x := input.args.amount; x > 3 }`, `limit := 6 if input.args.amount > 3`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if input.tool.name == "pay"`, `limit := 6`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if "x" == input.args.to`, `limit := 6 if input.args.to == "x"`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if not input.args.urgent`, `limit := 6 if not input.args.urgent`), `limit is 6 here and 5`},
		{two(big, `limit := small`, `limit := 6`, `small := 5`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if input.args.urgent else := 7`, `limit := 6 if input.args.urgent`), `limit is 6 here and 5`},
		{two(`urgent == input.args.urgent`, `urgent := true`, `urgent := false`), `urgent is false here and true`},
		{two(`limits.a < input.args.amount`, `limits.a := 5`, `limits.a := 6`), `limits is 6 here and 5`},
		{two(`limits.a < input.args.amount`, `limits["a"] := 5`, `limits["a"] := 6 if input.args.urgent`), `limits is 6 here and 5`},
		{two(`limit(1) < input.args.amount`, `limit(x) := 5 if x > 0`, `limit(y) := 6 if y > 0`), `limit is 6 here and 5`},
		{two(`limit(input.args.to) < input.args.amount`, `limit(_) := 5`, `limit("x") := 6`), `limit is 6 here and 5`},
		{two(`limit(input.args.to) < input.args.amount`, `limit("x") := 5`, `limit("x") := 6`), `limit is 6 here and 5`},
		{two(`limit(input.args.to) < input.args.amount`, `limit(x) := 5 if x == "x"`, `limit("x") := 6`), `limit is 6 here and 5`},
		{two(big, `limit := x if some x in [5, 6]`), `produced conflicting values: 5 at t.rego:7 6 at t.rego:7: every decision that asks for limit fails`},
		{two(big, `limit := data.acme.limits[_]`), `produced conflicting values`},
		{two(`limits.a < input.args.amount`, `limits[k] := v if some [k, v] in [["a", 1], ["a", 2]]`), `object keys must be unique`},

		{two(big, `limit := 5`, `limit := 5 if input.args.urgent`), ""},
		{two(big, `default limit := 5`, `limit := 6 if input.args.urgent`), ""},
		{two(big, `limit := 5 if input.args.urgent`, `limit := 6 if not input.args.urgent`), ""},
		{two(big, `limit := 5 if input.args.amount > 3`, `limit := 6 if input.args.amount <= 3`), ""},
		{two(big, `limit := 5 if input.args.amount > 1`, `limit := 6 if input.args.amount > 2`), ""}, // docs/policies.md: conditions that are not the same are not compared
		{two(big, `limit := 5 if input.args.currency == "EUR"`, `limit := 6 if input.args.currency == "USD"`), ""},
		{two(big, `limit := 5 if input.args.urgent else := 6`), ""},
		{two(big, `limit := 5 if input.tool.name == "pay"`, `limit := 6 if input.tool.name != "pay"`), ""},
		{two(`limit(input.args.to) < input.args.amount`, `limit("x") := 5`, `limit("y") := 6`), ""},
		{two(`limit(input.args.to) < input.args.amount`, `limit("x") := 5`, `limit(x) := 6 if x != "x"`), ""},
		{two(`limit(input.args.to, 1) < input.args.amount`, `limit("x", n) := n`, `limit("y", n) := n + 1`), ""},
		{two(`limits.a < limits.b`, `limits.a := 5`, `limits.b := 6`), ""},
		{two(big, `limit := min([l | some l in [5, 6]])`), ""},
		{two(big, `limit := input.args.level`, `limit := 6 if input.args.level == 6`), `is never 6`},
		{two(big, `limit := 5 if some t in input.args.lines`, `limit := 6 if { some t in input.args.lines; t == "tax" }`), `limit is 6 here and 5`},
		{two(big, `limit := 5 if { some t in input.args.lines; t == "tax" }`, `limit := 6 if { some t in input.args.lines; t == "tip" }`), ``},
		{two(big, `limit := 5 if count([l | some l in input.args.lines]) > 3`, `limit := 6 if count([l | some l in input.args.lines]) < 3`), ``},
		{two(big, `limit := 5 if input.behavior == "a" with input as {"behavior": "b"}`, `limit := 6 if input.behavior == "a" with input as {"behavior": "a"}`), ``},
	})
}

// Rewrites that contradict each other whenever one of them applies deny every such call.
func TestRewritesThatContradictEachOther(t *testing.T) {
	rule := func(pointer, value, condition string) string {
		return `modify contains {"code": "c", "pointer": "` + pointer + `", "value": ` + value + `} if ` + condition + "\n\n"
	}
	const urgent = `input.args.urgent`
	alone(t, "pay", []verdict{
		{rule("/amount", "5", urgent) + rule("/amount", "6", urgent), `the rewrite of "/amount" at t.rego:3 and this one of "/amount" contradict each other, and both apply: every such call is denied`},
		{rule("/amount", "5", "true") + rule("/amount", "6", urgent), `contradict each other`},
		{rule("/amount", "5", urgent) + rule("/amount", "6", "true"), `contradict each other`},
		{rule("/card", `{"brand": "visa", "last": "1"}`, urgent) + rule("/card/last", `"1"`, urgent), `the rewrite of "/card" at t.rego:3 and this one of "/card/last" contradict`},
		{rule("/card", `object.union(input.args.card, {"last": "1"})`, urgent) + rule("/card/last", `input.args.to`, urgent), `contradict each other`},
		{rule("/amount", "small", urgent) + rule("/amount", "6", urgent) + "small := 5\n", `contradict each other`},
		{rule("/amount", "5", urgent) + rule("/amount", "5", urgent), ""},
		{rule("/amount", "5", urgent) + rule("/tries", "6", urgent), ""},
		{rule("/amount", "5", urgent) + rule("/amount", "6", "not "+urgent), ""},
		{rule("/amount", "5", `input.args.amount > 5`) + rule("/amount", "6", `input.args.amount < 3`), ""},
		{rule("/amount", "5", urgent) + rule("/amount", "max([input.args.amount, 6])", urgent), ""},
		{rule("/card/brand", `"visa"`, urgent) + rule("/card/last", `"1"`, urgent), ""},
	})
	fsys := regotest.ShopDir(t)
	fsys["pay.rego"] = regotest.Text("package ambit.tools.pay\n\n" + rule("/amount", "5", "true"))
	for condition, conflict := range map[string]bool{
		`input.tool.name == "pay"`: true, `input.tool.name in {"pay", "refund"}`: true, `input.behavior == "x"`: true, `input.tool.name == "refund"`: false,
		`paying`: true, `input.tool.name == "invoice_archive"`: false,
	} {
		fsys["o.rego"] = regotest.Text("package ambit.policies.o\n\n" + rule("/amount", "6", condition) + "paying if input.tool.name == \"pay\"\n\n" + regotest.When("paying"))
		if err := checkDir(fsys); conflict {
			assert.ErrorContains(t, err, "contradict each other", condition)
		} else {
			assert.NoError(t, err, condition)
		}
	}
}

// A rule that depends on nothing and fails does so in every decision that asks for it.
func TestRulesThatAlwaysFail(t *testing.T) {
	alone(t, "pay", []verdict{
		{regotest.When(`input.args.amount > most`, `most := to_number(concat("", ["a", "b"]))`), `t.rego:7:26: to_number: strconv.ParseFloat: parsing "ab": invalid syntax (write a number)`},
		{regotest.When(`input.args.amount > most`, `most := max([to_number(x) | some x in ["1", "x"]])`), `t.rego:7:45: to_number: strconv.ParseFloat: parsing "x": invalid syntax (write a number)`},
		{regotest.When(`input.args.to in names`, `names contains lower(n) if some n in data.acme.limits`), `every decision that asks for names fails`},
		{regotest.When(`input.args.to in names`, `names contains lower(n) if some n in data.acme.hosts`), ""},
		{regotest.When(`some n in data.acme.nets; net.cidr_contains(n, input.args.to)`), `net.cidr_contains: invalid CIDR address: 10.1.2.3/40`},
	})
}
