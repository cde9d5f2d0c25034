package lint

import (
	"fmt"
	"testing"
)

// set returns a rewrite.
func set(pointer, value string) string {
	return fmt.Sprintf(`modify contains {"code": "c", "pointer": %s, "value": %s} if input.args.to == "x"`, pointer, value)
}

// breaking are rewrites that no call could run with.
var breaking = []verdict{
	{set(`"/amount"`, `0`), `the argument at "/amount" cannot be 0: minimum wants`},
	{set(`"/amount"`, `1001`), `the argument at "/amount" cannot be 1001: maximum wants`},
	{set(`"/amount"`, `1.5`), `the argument at "/amount" cannot be 1.5: type wants integer`},
	{set(`"/amount"`, `"5"`), `the argument at "/amount" is a number, and this value is a string`},
	{set(`"/note"`, `"a text of more than twenty characters"`), `the argument at "/note" cannot be "a text of more than twenty characters": maxLength wants`},
	{set(`"/code"`, `"abc"`), `the argument at "/code" cannot be "abc": pattern wants`},
	{set(`"/currency"`, `"EURO"`), `the argument at "/currency" is never "EURO"`},
	{set(`"/currency"`, `home`) + "\n\nhome := \"EURO\"", `the argument at "/currency" cannot be "EURO": enum wants`},
	{set(`"/currency"`, `data.acme.home`), `the argument at "/currency" cannot be "EURO": enum wants`},
	{set(`"/level"`, `7`), `is never 7`},
	{set(`"/lines"`, `["goods", "tpi"]`), `the argument at "/lines/1" cannot be ["goods", "tpi"]: enum wants`},
	{set(`"/lines/0"`, `"tpi"`), `the argument at "/lines/0" is never "tpi"`},
	{set(`"/tags"`, `[1]`), `the argument at "/tags/0" cannot be [1]: type wants string`},
	{set(`"/card"`, `{"brand": "visa"}`), `the argument at "/card/last" cannot be {"brand": "visa"}: required wants`},
	{set(`"/card"`, `{"brand": "visa", "last": "1", "lats": "2"}`), `additionalProperties wants`},
	{set(`"/card/brand"`, `brand`) + "\n\nbrand := \"vsia\"", `the argument at "/card/brand" cannot be "vsia": enum wants`},
	{set(`"/address"`, `{"zip": "1"}`), `required wants`},
	{set(`"/items"`, `[{"name": "a", "price": "1"}]`), `the argument at "/items/0/price" cannot be`},
	{set(`"/way"`, `{"kind": "card"}`), `required wants`},
	{set(`"/way"`, `{"kind": "crad", "number": "1"}`), `enum wants`},
	{set(`"/way/number"`, `5`), `the argument at "/way/number" `},
	{set(`"/extra/x"`, `5`), `the argument at "/extra/x" `},
	{set(`"/urgent"`, `"true"`), `the argument at "/urgent" is a boolean, and this value is a string`},
	{set(`place`, `5`) + "\n\nplace := \"/amuont\"", `pointer "/amuont" leads nowhere: there is no "amuont" (did you mean "amount"?)`},
	{set(`place`, `"x"`) + "\n\nplace := \"/card/brnd\"", `pointer "/card/brnd" leads nowhere: there is no "brnd" (did you mean "brand"?)`},
	{set(`place`, `5`) + "\n\nplace := \"amount\"", `"amount" is no JSON Pointer`},
	{set(`concat("/", ["", "amuont"])`, `5`), `pointer "/amuont" leads nowhere`},
}

// fitting are rewrites that calls can run with.
var fitting = []verdict{
	{set(`"/amount"`, `1`), ""}, {set(`"/amount"`, `1000`), ""}, {set(`"/amount"`, `5.0`), ""}, {set(`"/note"`, `""`), ""}, {set(`"/code"`, `"ABC"`), ""},
	{set(`"/currency"`, `"EUR"`), ""}, {set(`"/currency"`, `data.acme.right`), ""}, {set(`"/level"`, `2`), ""}, {set(`"/lines"`, `["goods"]`), ""}, {set(`"/lines"`, `[]`), ""},
	{set(`"/lines/3"`, `"tax"`), ""}, {set(`"/card"`, `{"brand": "visa", "last": "1"}`), ""}, {set(`"/card/last"`, `input.args.to`), ""}, {set(`"/address"`, `{"city": "Kiel"}`), ""},
	{set(`"/items"`, `[{"name": "a"}]`), ""}, {set(`"/way"`, `{"kind": "bank", "iban": "1"}`), ""}, {set(`"/way/iban"`, `"1"`), ""}, {set(`"/way/kind"`, `"bank"`), ""},
	{set(`"/extra"`, `{"x": "y"}`), ""}, {set(`"/extra/x"`, `"y"`), ""}, {set(`"/amount"`, `min([input.args.amount, 5])`), ""}, {set(`"/tries"`, `1`), ""},
	{set(`place`, `5`) + "\n\nplace := \"/amount\" if input.args.urgent else := \"/tries\"", ""},
}

// A rewrite that breaks the schema can only end in an error.
func TestRewritesThatBreakTheSchema(t *testing.T) {
	alone(t, "pay", breaking)
	alone(t, "pay", fitting)
}

// In a package for all tools a rewrite is held against the tools that the body
// keeps to, and fits when it fits one of them.
func TestRewritesOfAllTools(t *testing.T) {
	rule := func(condition, pointer, value string) string {
		return `modify contains {"code": "c", "pointer": ` + pointer + `, "value": ` + value + `} if ` + condition
	}
	judge(t, orgHeader, []verdict{
		{rule(`input.tool.name == "refund"`, `"/to"`, `"x"`), `pointer "/to" leads nowhere: there is no "to"`},
		{rule(`input.tool.name == "pay"`, `"/amount"`, `2000`), `the argument at "/amount" cannot be 2000: maximum wants`},
		{rule(`input.behavior == "x0"`, `"/level"`, `"x"`), `the argument at "/level" is a number, and this value is a string`},
		{rule(`input.behavior == "x1"`, `"/amuont"`, `5`), `pointer "/amuont" leads nowhere`},
		{rule(`input.tool.name == "refund"`, `"/amount"`, `2000`), ""},
		{rule(`input.tool.name == "invoice_archive"`, `p`, `2000`) + "\n\np := \"/invoice\"", ""},
	})
	judge(t, orgHeader, []verdict{
		{rule(`input.behavior == "x2"`, `"/amount"`, `2000`), ""},
	})
}

// mask returns an obligation that masks.
func mask(pointers string) string {
	return `obligations contains {"code": "redact_output", "args": {"pointers": ` + pointers + `}} if input.args.to == "x"`
}

// What the output never has cannot be masked, and a call that asks for it is denied.
func TestPlacesThatTheOutputNeverHas(t *testing.T) {
	const nothing = `the output of pay has nothing at `
	alone(t, "pay", []verdict{
		{mask(`["/nope"]`), nothing + `"/nope"`},
		{mask(`["/id", "/recepit"]`), nothing + `"/recepit", so that every call would be denied (did you mean "receipt"?)`},
		{mask(`["/receipt/crad"]`), nothing + `"/receipt/crad", so that every call would be denied (did you mean "card"?)`},
		{mask(`["/id/x"]`), nothing + `"/id/x"`},
		{mask(`["/lines/first"]`), nothing + `"/lines/first"`},
		{mask(`["/lines/0/txt"]`), nothing + `"/lines/0/txt"`},
		{mask(`["/lines/-1"]`), nothing + `"/lines/-1"`},
		{mask(`secret`) + "\n\nsecret := [\"/nope\"]", nothing + `"/nope"`},
		{mask(`{p | some p in ["/nope"]}`), nothing + `"/nope"`},
		{`obligations contains {"code": "redact_output", "args": masks}` + "\n\nmasks := {\"pointers\": [\"/nope\"]}", nothing + `"/nope"`},
		{`obligations contains {"code": "redact_output", "args": masks}` + "\n\nmasks := {\"pointer\": [\"/id\"]}", `the args of redact_output have no member "pointer"`},
		{`obligations contains {"code": "redact_output", "args": masks}` + "\n\nmasks := {\"pointers\": []}", `the pointers of redact_output are none`},
		{`obligations contains {"code": "redact_output", "args": masks}` + "\n\nmasks := {\"pointers\": [\"id\"]}", `"id" is no JSON Pointer`},
		{mask(`["/id"]`), ""}, {mask(`[""]`), ""}, {mask(`["/receipt/card", "/lines/0/text", "/lines/7", "/open/anything/at/all"]`), ""},
		{mask(`secret`) + "\n\nsecret := {\"/id\"}", ""}, {mask(`[input.args.to]`), ""}, {`obligations contains {"code": "notify", "args": {"pointers": ["/nope"]}}`, ""},
	})
	judge(t, orgHeader, []verdict{
		{`obligations contains {"code": "redact_output", "args": {"pointers": ["/receipt"]}} if input.tool.name == "refund"`, `the output of refund has nothing at "/receipt"`},
		{`obligations contains {"code": "redact_output", "args": {"pointers": ["/recepit"]}}`, `has nothing at "/recepit"`},
		{`obligations contains {"code": "redact_output", "args": {"pointers": ["/receipt"]}}`, ""},
		{`obligations contains {"code": "redact_output", "args": {"pointers": ["/receipt"]}} if input.tool.name == "invoice_archive"`, ""},
	})
}
