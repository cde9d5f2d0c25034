package opa

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vanishing are refusals that do not apply to calls that lack an optional member,
// and the member.
var vanishing = []verdict{
	{when(`input.args.host == "bad"`), "input.args.host"},
	{when(`"bad" == input.args.host`), "input.args.host"},
	{when(`input.args.host != "good"`), "input.args.host"},
	{when(`input.args.host`), "input.args.host"},
	{when(`startswith(input.args.host, "bad")`), "input.args.host"},
	{when(`not startswith(input.args.host, "good")`), "input.args.host"},
	{when(`h := input.args.host; not h in data.acme.hosts`), "input.args.host"},
	{when(`not input.args.host in data.acme.hosts`), "input.args.host"},
	{when(`not good(input.args.host)`, `good(h) if h in data.acme.hosts`), "input.args.host"},
	{when(`bad(input.args.host)`, `bad(h) if not h in data.acme.hosts`), "input.args.host"},
	{when(`bad(input.args)`, `bad(a) if not a.host in data.acme.hosts`), "input.args.host"},
	{when(`bad(input)`, `bad(i) if i.args.host == "x"`), "input.args.host"},
	{when(`a := input.args; a.host == "x"`), "input.args.host"},
	{when(`args.host == "x"`, `args := input.args`), "input.args.host"},
	{when(`host == "x"`, `host := input.args.host`), "input.args.host"},
	{when(`bad_host`, `bad_host if input.args.host == "x"`), "input.args.host"},
	{when(`bad_host`, `bad_host if worse`, `worse if input.args.host == "x"`), "input.args.host"},
	{when(`bad_host`, `bad_host if input.args.host == "x"`, `bad_host if input.args.to == "x"`), "input.args.host"},
	{when(`is_null(input.args.host)`), "input.args.host"},
	{when(`lower(input.args.host) == "x"`), "input.args.host"},
	{when(`contains(lower(input.args.note), "secret")`), "input.args.note"},
	{when(`input.args.to == "x"; input.args.note == "y"`), "input.args.note"},
	{when(`input.args.note; contains(input.args.note, "secret")`), "input.args.note"},
	{when(`input.args["note"] == "y"`), "input.args.note"},
	{when(`k := "note"; input.args[k] == "y"`), "input.args.note"},
	{when(`some k in ["to", "note"]; contains(input.args[k], "secret")`), "input.args.note"},
	{when(`input.args.count > 5`), "input.args.count"},
	{when(`input.args.count + input.args.amount > 5`), "input.args.count"},
	{when(`some t in input.args.tags; t == "bad"`), "input.args.tags"},
	{when(`input.args.tags[_] == "bad"`), "input.args.tags"},
	{when(`"bad" in input.args.tags`), "input.args.tags"},
	{when(`not "good" in input.args.tags`), "input.args.tags"},
	{when(`count(input.args.tags) > 3`), "input.args.tags"},
	{when(`count([t | some t in input.args.tags; t == "bad"]) > 0`), "input.args.tags"},
	{when(`bad := {t | some t in input.args.tags; t in {"a", "b"}}; count(bad) > 0`), "input.args.tags"},
	{when(`count(bad) > 0`, `bad contains t if some t in input.args.tags`), "input.args.tags"},
	{when(`some b in bad; startswith(b, "x")`, `bad contains t if some t in input.args.tags`), "input.args.tags"},
	{when(`every t in input.args.tags { t == "bad" }`), "input.args.tags"},
	{when(`not all_good`, `all_good if count([t | some t in input.args.tags; t == "bad"]) == 0`), "input.args.tags"},
	{when(`input.args.address.city == "x"`), "input.args.address"},
	{when(`input.args.address.zip == "x"`), "input.args.address.zip"},
	{when(`a := input.args.address; a.city == "x"`), "input.args.address"},
	{when(`some i in input.args.items; i.price > 5`), "input.args.items[_].price"},
	{when(`every i in input.args.items { i.price > 5 }`), "input.args.items"},
	{when(`every i in input.args.items { i.price > 5 }`), "input.args.items[_].price"},
	{when(`sum([i.price | some i in input.args.items]) > 5`), "input.args.items"},
	{when(`input.args.extra.region == "x"`), "input.args.extra.region"},
	{when(`input.args.way.bic == "x"`), "input.args.way.bic"},
	{when(`input.args.way.kind == "bank"; not input.args.way.bic in {"a"}`), "input.args.way.bic"},
	{when(`{"host": h} = input.args; h == "x"`), "input.args.host"},
	{when(`{"host": "x"} = input.args`), "input.args.host"},
	{when(`x := {"h": input.args.host}; x.h == "y"`), "input.args.host"},
	{when(`sprintf("%s", [input.args.host]) == "x"`), "input.args.host"},
	{when(`input.args.amount > limit`, `limit := 5 if input.args.code == "ABC"`, `limit := 9 if input.args.code != "ABC"`), "input.args.code"},
	{when(`input.args.amount > limit(input.args.code)`, `limit("ABC") := 5`, `limit("DEF") := 9`), "input.args.code"},
	{when(`data.acme.limits[input.args.note] > 5`), "input.args.note"},
	{when(`object.get(data.acme.limits, input.args.note, 9) > 5`), "input.args.note"},
	{when(`regex.match("^x", input.args.note)`), "input.args.note"},
	{when(`not ok`, `ok if not bad`, `bad if input.args.note == "x"`), "input.args.note"},
	{when(`not ambit.url.host(input.args.host) in {"good.example"}`), "input.args.host"},
	{when(`$"{input.args.note}" == "x"`), ""},
}

// saying are refusals that apply without the member, or that say what is then.
var saying = []string{
	when(`not input.args.host == "good"`), when(`not input.args.host`), when(`not allowed`, `allowed if input.args.host in data.acme.hosts`),
	when(`object.get(input.args, "host", "") == "bad"`), when(`h := object.get(input.args, "host", ""); not h in data.acme.hosts`),
	when(`object.get(input.args, ["address", "zip"], "") == "x"`), when(`object.get(object.get(input.args, "address", {}), "zip", "") == "x"`),
	when(`h == "bad"`, `default h := ""`, `h := input.args.host`), when(`bad_host`, `default bad_host := false`, `bad_host if input.args.host == "x"`),
	when(`bad(input.args)`, `default bad(_) := true`, `bad(a) := false if a.host == "x"`),
	when(`host == "x"`, `host := input.args.host if input.args.host else := ""`),
	when(`bad_host`, `bad_host if not input.args.host`, `bad_host if not input.args.host in data.acme.hosts`),
	when(`not input.args.host`) + when(`not input.args.host in data.acme.hosts`),
	when(`"host" in object.keys(input.args); input.args.host == "x"`), when(`object.get(input.args, "host", null) != null; input.args.host == "x"`),
	when(`not "host" in object.keys(input.args)`),
	when(`count([t | some t in input.args.tags; t == "good"]) == 0`), when(`every t in object.get(input.args, "tags", []) { t == "bad" }`),
	when(`count({h | h := input.args.host; h in data.acme.hosts}) == 0`), when(`some t in object.get(input.args, "tags", []); t == "bad"`),
	when(`not any_good`, `any_good if { some t in input.args.tags; t == "good" }`),
	when(`not ambit.url.host(object.get(input.args, "host", "")) in {"good.example"}`),
	when(`input.args.to == "x"`), when(`input.args.tries > 2`), when(`input.args.card.brand == "visa"`), when(`some l in input.args.lines; l == "tax"`),
	when(`input.args.way.kind == "bank"; input.args.way.iban == "x"`), when(`input.args.way.iban == "x"`), when(`input.args.way.number == "x"`),
	when(`some i in object.get(input.args, "items", []); i.name == "x"`), when(`some i in object.get(input.args, "items", []); object.get(i, "price", 0) > 5`),
	when(`input.run.counts.pay > 3`), when(`input.modes.till == "closed"`), when(`input.principal.capabilities.money`), when(`data.acme.users[input.principal.id].limit > 3`),
	when(`input.args.to == "x"; not input.args.note`), when(`count(input.args) > 3`), when(`walk(input.args, [_, v]); v == "bad"`),
	when(`some k, v in input.args; v == "bad"; startswith(k, "h")`), when(`input.args == {}`), when(`json.filter(input.args, ["host"]) != {}`),
	when(`$"{input.args.note}" == "x"`), when(`x := [v | v := input.args.note]; x != ["a"]`),
	when(`input.args.amount > limit`, `limit := 5 if input.args.code == "ABC" else := 9`),
	when(`input.args.host == "x" with input as {"args": {"host": "x"}}`), when(`object.union({"host": ""}, input.args).host == "x"`),
	`allow contains {"code": "a", "message": "m"} if input.args.host == "x"` + "\n",
	`modify contains {"code": "a", "pointer": "/note", "value": "x"} if input.args.host == "x"` + "\n",
}

// optionalWarnings returns what is warned of for each policy, in packages of pay.
func optionalWarnings(t *testing.T, policies []string) []string {
	t.Helper()
	out := make([]string, len(policies))
	fsys := shopDir(t)
	for i, policy := range policies {
		fsys[fmt.Sprintf("p%03d.rego", i)] = text(fmt.Sprintf("package ambit.policies.p%03d\n\n", i) + strings.ReplaceAll(policy, "} if {\n", "} if {\n\tinput.tool.name == \"pay\"\n"))
	}
	b, err := read(fsys)
	require.NoError(t, err)
	for _, w := range b.Warnings() {
		var i int
		_, err := fmt.Sscanf(w.File, "p%d.rego", &i)
		require.NoError(t, err)
		assert.Equal(t, codeOptional, w.Code)
		out[i] += w.Error() + "\n"
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
	fsys := shopDir(t)
	fsys["pay.rego"] = text("package ambit.tools.pay\n\n" + when(`h := input.args.host; not h in data.acme.hosts`) +
		`ask contains {"id": "a", "message": "m"} if bad_address` + "\n\nbad_address if input.args.address.zip == \"x\"\n\n" + when(`some i in object.get(input.args, "items", []); i.price > 5`))
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
