package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// vanishing are refusals that do not apply to calls that lack an optional member,
// and the member.
var vanishing = []verdict{
	{regotest.When(`input.args.host == "bad"`), "input.args.host"},
	{regotest.When(`"bad" == input.args.host`), "input.args.host"},
	{regotest.When(`input.args.host != "good"`), "input.args.host"},
	{regotest.When(`input.args.host`), "input.args.host"},
	{regotest.When(`startswith(input.args.host, "bad")`), "input.args.host"},
	{regotest.When(`not startswith(input.args.host, "good")`), "input.args.host"},
	{regotest.When(`h := input.args.host; not h in data.acme.hosts`), "input.args.host"},
	{regotest.When(`not input.args.host in data.acme.hosts`), "input.args.host"},
	{regotest.When(`not good(input.args.host)`, `good(h) if h in data.acme.hosts`), "input.args.host"},
	{regotest.When(`bad(input.args.host)`, `bad(h) if not h in data.acme.hosts`), "input.args.host"},
	{regotest.When(`bad(input.args)`, `bad(a) if not a.host in data.acme.hosts`), "input.args.host"},
	{regotest.When(`bad(input)`, `bad(i) if i.args.host == "x"`), "input.args.host"},
	{regotest.When(`a := input.args; a.host == "x"`), "input.args.host"},
	{regotest.When(`args.host == "x"`, `args := input.args`), "input.args.host"},
	{regotest.When(`host == "x"`, `host := input.args.host`), "input.args.host"},
	{regotest.When(`bad_host`, `bad_host if input.args.host == "x"`), "input.args.host"},
	{regotest.When(`bad_host`, `bad_host if worse`, `worse if input.args.host == "x"`), "input.args.host"},
	{regotest.When(`bad_host`, `bad_host if input.args.host == "x"`, `bad_host if input.args.to == "x"`), "input.args.host"},
	{regotest.When(`is_null(input.args.host)`), "input.args.host"},
	{regotest.When(`lower(input.args.host) == "x"`), "input.args.host"},
	{regotest.When(`contains(lower(input.args.note), "secret")`), "input.args.note"},
	{regotest.When(`input.args.to == "x"; input.args.note == "y"`), "input.args.note"},
	{regotest.When(`input.args.note; contains(input.args.note, "secret")`), "input.args.note"},
	{regotest.When(`input.args["note"] == "y"`), "input.args.note"},
	{regotest.When(`k := "note"; input.args[k] == "y"`), "input.args.note"},
	{regotest.When(`some k in ["to", "note"]; contains(input.args[k], "secret")`), "input.args.note"},
	{regotest.When(`input.args.count > 5`), "input.args.count"},
	{regotest.When(`input.args.count + input.args.amount > 5`), "input.args.count"},
	{regotest.When(`some t in input.args.tags; t == "bad"`), "input.args.tags"},
	{regotest.When(`input.args.tags[_] == "bad"`), "input.args.tags"},
	{regotest.When(`"bad" in input.args.tags`), "input.args.tags"},
	{regotest.When(`not "good" in input.args.tags`), "input.args.tags"},
	{regotest.When(`count(input.args.tags) > 3`), "input.args.tags"},
	{regotest.When(`count([t | some t in input.args.tags; t == "bad"]) > 0`), "input.args.tags"},
	{regotest.When(`bad := {t | some t in input.args.tags; t in {"a", "b"}}; count(bad) > 0`), "input.args.tags"},
	{regotest.When(`count(bad) > 0`, `bad contains t if some t in input.args.tags`), "input.args.tags"},
	{regotest.When(`some b in bad; startswith(b, "x")`, `bad contains t if some t in input.args.tags`), "input.args.tags"},
	{regotest.When(`every t in input.args.tags { t == "bad" }`), "input.args.tags"},
	{regotest.When(`not all_good`, `all_good if count([t | some t in input.args.tags; t == "bad"]) == 0`), "input.args.tags"},
	{regotest.When(`input.args.address.city == "x"`), "input.args.address"},
	{regotest.When(`input.args.address.zip == "x"`), "input.args.address.zip"},
	{regotest.When(`a := input.args.address; a.city == "x"`), "input.args.address"},
	{regotest.When(`some i in input.args.items; i.price > 5`), "input.args.items[_].price"},
	{regotest.When(`every i in input.args.items { i.price > 5 }`), "input.args.items"},
	{regotest.When(`every i in input.args.items { i.price > 5 }`), "input.args.items[_].price"},
	{regotest.When(`sum([i.price | some i in input.args.items]) > 5`), "input.args.items"},
	{regotest.When(`input.args.extra.region == "x"`), "input.args.extra.region"},
	{regotest.When(`input.args.way.bic == "x"`), "input.args.way.bic"},
	{regotest.When(`input.args.way.kind == "bank"; not input.args.way.bic in {"a"}`), "input.args.way.bic"},
	{regotest.When(`{"host": h} = input.args; h == "x"`), "input.args.host"},
	{regotest.When(`{"host": "x"} = input.args`), "input.args.host"},
	{regotest.When(`x := {"h": input.args.host}; x.h == "y"`), "input.args.host"},
	{regotest.When(`sprintf("%s", [input.args.host]) == "x"`), "input.args.host"},
	{regotest.When(`input.args.amount > limit`, `limit := 5 if input.args.code == "ABC"`, `limit := 9 if input.args.code != "ABC"`), "input.args.code"},
	{regotest.When(`input.args.amount > limit(input.args.code)`, `limit("ABC") := 5`, `limit("DEF") := 9`), "input.args.code"},
	{regotest.When(`data.acme.limits[input.args.note] > 5`), "input.args.note"},
	{regotest.When(`object.get(data.acme.limits, input.args.note, 9) > 5`), "input.args.note"},
	{regotest.When(`regex.match("^x", input.args.note)`), "input.args.note"},
	{regotest.When(`not ok`, `ok if not bad`, `bad if input.args.note == "x"`), "input.args.note"},
	{regotest.When(`not ambit.url.host(input.args.host) in {"good.example"}`), "input.args.host"},
	{regotest.When(`$"{input.args.note}" == "x"`), ""},
}

// saying are refusals that apply without the member, or that say what is then.
var saying = []string{
	regotest.When(`not input.args.host == "good"`), regotest.When(`not input.args.host`), regotest.When(`not allowed`, `allowed if input.args.host in data.acme.hosts`),
	regotest.When(`object.get(input.args, "host", "") == "bad"`), regotest.When(`h := object.get(input.args, "host", ""); not h in data.acme.hosts`),
	regotest.When(`object.get(input.args, ["address", "zip"], "") == "x"`), regotest.When(`object.get(object.get(input.args, "address", {}), "zip", "") == "x"`),
	regotest.When(`h == "bad"`, `default h := ""`, `h := input.args.host`), regotest.When(`bad_host`, `default bad_host := false`, `bad_host if input.args.host == "x"`),
	regotest.When(`bad(input.args)`, `default bad(_) := true`, `bad(a) := false if a.host == "x"`),
	regotest.When(`host == "x"`, `host := input.args.host if input.args.host else := ""`),
	regotest.When(`bad_host`, `bad_host if not input.args.host`, `bad_host if not input.args.host in data.acme.hosts`),
	regotest.When(`not input.args.host`) + regotest.When(`not input.args.host in data.acme.hosts`),
	regotest.When(`"host" in object.keys(input.args); input.args.host == "x"`), regotest.When(`object.get(input.args, "host", null) != null; input.args.host == "x"`),
	regotest.When(`not "host" in object.keys(input.args)`),
	regotest.When(`count([t | some t in input.args.tags; t == "good"]) == 0`), regotest.When(`every t in object.get(input.args, "tags", []) { t == "bad" }`),
	regotest.When(`count({h | h := input.args.host; h in data.acme.hosts}) == 0`), regotest.When(`some t in object.get(input.args, "tags", []); t == "bad"`),
	regotest.When(`not any_good`, `any_good if { some t in input.args.tags; t == "good" }`),
	regotest.When(`not ambit.url.host(object.get(input.args, "host", "")) in {"good.example"}`),
	regotest.When(`input.args.to == "x"`), regotest.When(`input.args.tries > 2`), regotest.When(`input.args.card.brand == "visa"`), regotest.When(`some l in input.args.lines; l == "tax"`),
	regotest.When(`input.args.way.kind == "bank"; input.args.way.iban == "x"`), regotest.When(`input.args.way.iban == "x"`), regotest.When(`input.args.way.number == "x"`),
	regotest.When(`some i in object.get(input.args, "items", []); i.name == "x"`), regotest.When(`some i in object.get(input.args, "items", []); object.get(i, "price", 0) > 5`),
	regotest.When(`input.undo; not "oncall" in input.undo.by.groups`), regotest.When(`input.undo.by.id == "x"`),
	regotest.When(`input.run.counts.pay > 3`), regotest.When(`input.modes.till == "closed"`), regotest.When(`input.principal.capabilities.money`), regotest.When(`data.acme.users[input.principal.id].limit > 3`),
	regotest.When(`input.args.to == "x"; not input.args.note`), regotest.When(`count(input.args) > 3`), regotest.When(`walk(input.args, [_, v]); v == "bad"`),
	regotest.When(`some k, v in input.args; v == "bad"; startswith(k, "h")`), regotest.When(`input.args == {}`), regotest.When(`json.filter(input.args, ["host"]) != {}`),
	regotest.When(`$"{input.args.note}" == "x"`), regotest.When(`x := [v | v := input.args.note]; x != ["a"]`),
	regotest.When(`input.args.amount > limit`, `limit := 5 if input.args.code == "ABC" else := 9`),
	regotest.When(`input.args.host == "x" with input as {"args": {"host": "x"}}`), regotest.When(`object.union({"host": ""}, input.args).host == "x"`),
	`allow contains {"code": "a", "message": "m"} if input.args.host == "x"` + "\n",
	`modify contains {"code": "a", "pointer": "/note", "value": "x"} if input.args.host == "x"` + "\n",
}

// optionalWarnings returns what is warned of for each policy, in packages of pay.
func optionalWarnings(t *testing.T, policies []string) []string {
	t.Helper()
	out := make([]string, len(policies))
	fsys := regotest.ShopDir(t)
	for i, policy := range policies {
		fsys[fmt.Sprintf("p%03d.rego", i)] = regotest.Text(fmt.Sprintf("package ambit.policies.p%03d\n\n", i) + strings.ReplaceAll(policy, "} if {\n", "} if {\n\tinput.tool.name == \"pay\"\n"))
	}
	b, err := read(fsys)
	require.NoError(t, err)
	for _, w := range b.Warnings() {
		var i int
		_, err := fmt.Sscanf(w.File, "p%d.rego", &i)
		require.NoError(t, err)
		if w.Code != codeNeverFalse { // of a bare input.args.host: TestConditions
			assert.Equal(t, codeOptional, w.Code)
			out[i] += w.Error() + "\n"
		}
	}
	return out
}

// A refusal that an absent member makes vanish is warned of, with the member.
func TestRefusalsThatVanish(t *testing.T) {
	policies := make([]string, len(vanishing))
	for i, v := range vanishing {
		policies[i] = v.policy
	}
	for i, warned := range optionalWarnings(t, policies) {
		if want := vanishing[i].want; want == "" {
			assert.Empty(t, warned, policies[i])
		} else {
			assert.Contains(t, warned, "does not apply when "+want+" is absent, as in calls of pay", policies[i])
			assert.Equal(t, 1, strings.Count(warned, want+" is absent"), "%s\n%s", policies[i], warned)
		}
	}
}

// A refusal that applies all the same, or says what is then, is not.
func TestRefusalsThatSaySo(t *testing.T) {
	for i, warned := range optionalWarnings(t, saying) {
		assert.Empty(t, warned, saying[i])
	}
}

// The texts of the warnings.
func TestWarningsOfOptionalMembers(t *testing.T) {
	fsys := regotest.ShopDir(t)
	fsys["pay.rego"] = regotest.Text("package ambit.tools.pay\n\n" + regotest.When(`h := input.args.host; not h in data.acme.hosts`) +
		`ask contains {"id": "a", "message": "m"} if bad_address` + "\n\nbad_address if input.args.address.zip == \"x\"\n\n" + regotest.When(`some i in object.get(input.args, "items", []); i.price > 5`))
	var texts []string
	for _, w := range warned(t, fsys) {
		texts = append(texts, w.Error())
	}
	assert.Equal(t, []string{
		`pay.rego:4:18: this deny does not apply when input.args.host is absent (write object.get(input.args, "host", ""), give it a default in tools.yaml, or say what is then by a rule with not input.args.host)`,
		`pay.rego:11:35: the ask at pay.rego:9 does not apply when input.args.address.zip is absent (write object.get(input.args, ["address", "zip"], ""), give it a default in tools.yaml, or say what is then by a rule with not input.args.address.zip)`,
		`pay.rego:15:4: this deny does not apply when input.args.items[_].price is absent (write object.get(<the element>, "price", 0), give it a default in tools.yaml)`,
	}, texts)
}
