package lint

import "testing"

// Load checks the constant members of an entry against their form, also behind
// locals, rules and data.
func TestEntriesBehindConstants(t *testing.T) {
	deny := func(message string, more string) string {
		return `deny contains {"code": "no", "message": ` + message + `} if input.args.to == "x"` + "\n\n" + more
	}
	ask := func(member string, more string) string {
		return `ask contains {"id": "a", "message": "m", ` + member + "}\n\n" + more
	}
	const noText = `"message" of deny must be a string: this is 5 (make a string of it: sprintf("%v", [...]))`
	alone(t, "pay", []verdict{
		{deny(`text`, `text := 5`), noText},
		{deny(`data.acme.text`, ``), noText},
		{deny(`texts.no`, `texts := {"no": 5, "other": "x"}`), noText},
		{deny(`text`, `text := 5 if input.args.amount > 3 else := "x"`), noText},
		{deny(`text`, "default text := 5\n\n"+`text := "x" if input.args.amount > 3`), noText},
		{deny(`text(1)`, `text(n) := n + 4`), `"message" of deny must be a string`},
		{deny(`text("a")`, `text("a") := 5`), `may be undefined`},
		{deny(`object.get(texts, input.args.currency, "x")`, `texts := {"EUR": 5}`), noText},
		{deny(`object.get(texts, input.args.currency, 5)`, `texts := {"EUR": "x"}`), noText},
		{deny(`text`, `text := null`), `"message" of deny must be a string: this is null`},
		{deny(`text`, `text := ["a"]`), `"message" of deny must be a string: this is ["a"]`},
		{ask(`"timeout": wait`, `wait := "10 minutes"`), `timeout "10 minutes" is not a positive duration`},
		{ask(`"timeout": data.acme.wait`, ``), `timeout "10 minutes" is not a positive duration`},
		{ask(`"timeout": waits[input.args.currency]`, `waits := {"EUR": "1h", "USD": "1 h"}`), `may be absent`},
		{ask(`"timeout": object.get(waits, input.args.currency, "2h")`, `waits := {"EUR": "1h", "USD": "1 h"}`), `timeout "1 h" is not a positive duration`},
		{ask(`"quorum": most`, `most := 0`), `quorum must be at least 1`},
		{ask(`"quorum": most`, `most := 1.5`), `"quorum" of ask must be an integer`},
		{ask(`"quorum": most`, `most := "2"`), `"quorum" of ask must be an integer`},
		{ask(`"max_cover": cover`, `cover := "all"`), `unknown cover "all"`},
		{ask(`"approvers": who`, `who := []`), `approvers name nobody`},
		{ask(`"approvers": who`, `who := "alice"`), `"approvers" of ask must be a list of strings`},
		{ask(`"approvers": who`, `who := [1]`), `"approvers" of ask must be a list of strings`},
		{`obligations contains {"code": "notify", "args": what}` + "\n\nwhat := \"x\"", `"args" of obligations must be an object`},
		{`modify contains {"code": "a", "pointer": where, "value": "x"}` + "\n\nwhere := 5", `"pointer" of modify must be a string`},

		{deny(`text`, `text := "x"`), ""},
		{deny(`texts.no`, `texts := {"no": "x", "other": 5}`), ""},
		{deny(`sprintf("%d of %s", [input.args.amount, unit])`, `unit := 5`), ""},
		{deny(`text`, `text := "a" if input.args.amount > 3 else := "b"`), ""},
		{ask(`"timeout": wait`, `wait := "10m"`), ""},
		{ask(`"quorum": most`, `most := 2`), ""},
		{ask(`"approvers": who`, `who := {"alice"}`), ""},
		{ask(`"approvers": who`, `who := {u | some u, d in data.acme.users; d.limit > 3}`), ""},
		{ask(`"max_cover": cover`, `cover := "tool" if input.args.amount < 3 else := "exact"`), ""},
	})
}
