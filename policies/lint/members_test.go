package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

const (
	whatever = `has no member "quary", whatever the tool (did you mean "query"?)`
	paying   = `input.args has no member "query" when the tool is pay (`
)

// missing are members that no tool has of which a call can be there.
var missing = []verdict{
	{regotest.When(`input.args.quary == "x"`), `input.args ` + whatever},
	{regotest.When(`not input.args.quary`), whatever},
	{regotest.When(`input.args["quary"] == "x"`), whatever},
	{regotest.When(`startswith(input.args.quary, "x")`), whatever},
	{regotest.When(`a := input.args; a.quary == "x"`), whatever},
	{regotest.When(`i := input; i.args.quary == "x"`), whatever},
	{regotest.When(`k := "quary"; input.args[k] == "x"`), whatever},
	{regotest.When(`input.args[k] == "x"`, `k := "quary"`), whatever},
	{regotest.When(`some k in ["query", "quary"]; input.args[k] == "x"`), whatever},
	{regotest.When(`args.quary == "x"`, `args := input.args`), whatever},
	{regotest.When(`bad(input.args)`, `bad(a) if a.quary == "x"`), whatever},
	{regotest.When(`bad(input)`, `bad(i) if i.args.quary == "x"`), whatever},
	{regotest.When(`bad`, `bad if input.args.quary == "x"`), whatever},
	{regotest.When(`bad`, `bad if input.args.to == "x"`, `bad if input.args.quary == "x"`), whatever},
	{regotest.When(`count([1 | input.args.quary == "x"]) > 0`), whatever},
	{regotest.When(`every c in ["x"] { input.args.quary != c }`), whatever},
	{regotest.When(`{"quary": x} = input.args; x == 1`), whatever},
	{regotest.When(`some x in input.args.quary; x == "x"`), whatever},
	{regotest.When(`input.tool.effect == "read"; input.args.quary == "x"`), whatever},
	{regotest.When(`"quary" in object.keys(input.args)`), whatever},
	{regotest.When(`x := {"a": input.args}; x.a.quary == "x"`), whatever},
	{regotest.When(`input.args.card.brnd == "visa"`), `input.args.card has no member "brnd" (did you mean "brand"?)`},
	{regotest.When(`some i in input.args.items; i.prize > 3`), `input.args.items[_] has no member "prize" (did you mean "price"?)`},
	{regotest.When(`every i in input.args.items { i.prize > 3 }`), `input.args.items[_] has no member "prize"`},
	{regotest.When(`input.args.way.numbr == "x"`), `input.args.way has no member "numbr" (did you mean "number"?)`},

	{regotest.When(`input.tool.name == "pay"; input.args.query == "x"`), paying},
	{regotest.When(`"pay" == input.tool.name; input.args.query == "x"`), paying},
	{regotest.When(`input.args.query == "x"; input.tool.name == "pay"`), paying},
	{regotest.When(`input.tool.name in {"pay"}; input.args.query == "x"`), paying},
	{regotest.When(`n := input.tool.name; n == "pay"; input.args.query == "x"`), paying},
	{regotest.When(`input.tool.name == name; input.args.query == "x"`, `name := "pay"`), paying},
	{regotest.When(`names[input.tool.name]; input.args.query == "x"`, `names := {"pay"}`), paying},
	{regotest.When(`names[input.tool.name]; input.args.query == "x"`, `names contains "pay"`), paying},
	{regotest.When(`limits[input.tool.name] > 4; input.args.query == "x"`, `limits := {"pay": 5}`), paying},
	{regotest.When(`paying; input.args.query == "x"`, `paying if input.tool.name == "pay"`), paying},
	{regotest.When(`is("pay"); input.args.query == "x"`, `is(n) if input.tool.name == n`), paying},
	{regotest.When(`bad(input.tool.name, input.args)`, `bad("pay", args) if args.amount > 3`, `bad("order_find", args) if args.query == "x"`), ""},
	{regotest.When(`input.tool.name == "pay"; a := input.args; a.query == "x"`), paying},
	{regotest.When(`input.tool.name == "pay"; some a in [input.args]; a.query == "x"`), paying},
	{regotest.When(`input.tool.name == "pay"; count([1 | input.args.query == "x"]) > 0`), paying},
	{regotest.When(`count([1 | input.tool.name == "pay"; input.args.query == "x"]) > 0`), paying},
	{regotest.When(`input.tool.name == "pay"; bad`, `bad if input.args.query == "x"`), paying},
	{regotest.When(`input.tool.name == "pay"; bad(input.args)`, `bad(a) if a.query == "x"`), paying},
	{regotest.When(`input.tool.name in {"pay", "refund"}; input.args.query == "x"`), `input.args has no member "query" when the tool is pay or refund`},
	{regotest.When(`startswith(input.tool.name, "p"); input.tool.name != "refund"; input.args.query == "x"`), ""},
}

// present are members that one of these tools has, and what may be absent.
var present = []verdict{
	// Members of some tool, of the one that is meant, or behind a default.
	{regotest.When(`input.args.query == "x"`), ""},
	{regotest.When(`input.args.order == "x"`), ""},
	{regotest.When(`input.tool.name == "pay"; input.args.to == "x"`), ""},
	{regotest.When(`input.tool.name in {"pay", "order_find"}; input.args.query == "x"`), ""},
	{regotest.When(`not input.tool.name == "pay"; input.args.query == "x"`), ""},
	{regotest.When(`input.tool.name != "pay"; input.args.query == "x"`), ""},
	{regotest.When(`object.get(input.args, "quary", "") == "x"`), ""},
	{regotest.When(`object.get(input.args, ["card", "brnd"], "") == "x"`), ""},
	{regotest.When(`object.get(input, ["args", "recipient"], "") == "x"`), ""},
	{regotest.When(`object.get(input.args, "recipient", "") == "x"`), ""},
	{regotest.When(`k := "recipient"; object.get(input.args, k, "") == "x"`), ""},
	{regotest.When(`input.tool.name == "invoice_archive"; input.args.invoice == "x"`), ""},
	{regotest.When(`input.tool.name == "invoice_archive"; bad(input.args)`, `bad(a) if a.invoice == "x"`), ""},
	{regotest.When(`input.tool.name == "invoice_archive"; bad`, `bad if input.args.invoice == "x"`), ""},
	{regotest.When(`input.tool.name in {"invoice_archive", "mail_send"}; input.args.invoice == "x"`), ""},
	{regotest.When(`input.tool.name in foreign; input.args.invoice == "x"`, `foreign := {"invoice_archive", "pay"}`), ""},
	{regotest.When(`input.tool.name == "invoice_archive"; input.run.counts.invoice_archive > 2`), ""},
	{regotest.When(`startswith(input.tool.name, "invoice_"); input.tool.name == "invoice_archive"; not input.args.force`), ""},
	{regotest.When(`input.args.extra.anything == "x"`), ""},
	{regotest.When(`some k in object.keys(input.args); input.args[k] == "x"`), ""},
	{regotest.When(`some k, v in input.args; v == "x"; startswith(k, "to")`), ""},
	{regotest.When(`input.args.way.bic == "x"`), ""},
	{regotest.When(`x := input.args with input as {"args": {"zzz": 1}}; x.zzz == 1`), ""},

	// A misspelt tool is no tool of another application.
	{regotest.When(`input.tool.name == "refnud"; input.args.order == "x"`), `input.tool.name is never "refnud"`},
	{regotest.When(`input.run.counts.invoice_archive > 2`), `input.run.counts has no tool "invoice_archive"`},
	{regotest.When(`input.run.succeeded.refnud`), `input.run.succeeded has no tool "refnud" (did you mean "refund"?)`},
	{regotest.When(`some t in ["pay", "refnud"]; input.run.counts[t] > 1`), `input.run.counts has no tool "refnud"`},
}

// In an organization's package the arguments are those of the tools that the body
// is about: of all of them, of one, or of a tool that is not declared here.
func TestMembersInSharedPackages(t *testing.T) {
	judge(t, orgHeader, missing)
	judge(t, orgHeader, present)
}

// What helpers of another package say of other tools is no mistake of those that use them.
func TestMembersInHelpers(t *testing.T) {
	fsys := regotest.ShopDir(t)
	fsys["lib.rego"] = regotest.Text("package lib\n\nblocked if input.args.to == \"x\"\n\nblocked if input.args.query == \"x\"\n\nbad(args) if args.query == \"x\"\n\nbad(args) if args.to == \"x\"")
	fsys["pay.rego"] = regotest.Text("package ambit.tools.pay\n\nimport data.lib\n\n" + regotest.When(`lib.blocked`))
	fsys["o.rego"] = regotest.Text("package ambit.policies.o\n\nimport data.lib\n\n" + regotest.When(`input.tool.name == "pay"; lib.blocked`) + regotest.When(`lib.bad(input.args)`))
	assert.NoError(t, checkDir(fsys))
	fsys["lib.rego"] = regotest.Text("package lib\n\nblocked if input.args.too == \"x\"\n\nbad(args) if args.quary == \"x\"")
	assert.EqualError(t, checkDir(fsys), `lib.rego:3:23: input.args has no member "too", whatever the tool (did you mean "to"?)
lib.rego:5:19: input.args has no member "quary", whatever the tool (did you mean "query"?)`)
}

// What may be a typo in spite of a default is a warning, and so is a body that is
// about a tool of another application, once.
func TestForeignMembers(t *testing.T) {
	fsys := regotest.ShopDir(t)
	fsys["o.rego"] = regotest.Text("package ambit.policies.o\n\n" + regotest.When(`object.get(input.args, "quary", "") == "x"`) + regotest.When(`object.get(input.args, "recipient", "") == "x"`) +
		regotest.When(`input.tool.name == "invoice_archive"; input.run.counts.invoice_archive > 2; object.get(input.run.counts, "invoice_archive", 0) > 1`))
	var texts []string
	for _, w := range warned(t, fsys) {
		assert.Equal(t, codeForeignName, w.Code)
		texts = append(texts, w.Error())
	}
	assert.Equal(t, []string{
		`o.rego:4:25: input.args has no member "quary", whatever the tool (did you mean "query"?)`,
		`o.rego:14:21: input.tool.name is never "invoice_archive" here (it is one of "order_find", "pay", "refund")`,
	}, texts)
}

// A tool without arguments has none: it does not make every name possible.
func TestMembersBesideToolsWithoutArguments(t *testing.T) {
	fsys, err := regotest.Generate(strings.Replace(regotest.Shop, "  order_find:\n", "  ping:\n    version: 1.0.0\n    description: Ping.\n    effect: read\n    input: {type: object, properties: {}}\n"+
		"    output: {type: object, properties: {}}\n  order_find:\n", 1))
	require.NoError(t, err)
	fsys["o.rego"] = regotest.Text("package ambit.policies.o\n\n" + regotest.When(`input.args.amuont > 1`))
	assert.EqualError(t, checkDir(fsys), `o.rego:4:13: input.args has no member "amuont", whatever the tool (did you mean "amount"?)`)
	fsys["o.rego"] = regotest.Text("package ambit.tools.ping\n\n" + regotest.When(`input.args.amount > 1`))
	assert.ErrorContains(t, checkDir(fsys), `input.args has no member "amount"`)
}
