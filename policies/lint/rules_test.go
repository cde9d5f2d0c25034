package lint

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

const (
	goodDeny = `deny contains {"code": "too_big", "message": "m"} if input.args.path == "x"`
	entryM   = `{"code": "too_big", "message": "m"}`
)

// lints are files that stop a load, and how.
var lints = []struct{ name, file, text, want string }{
	{"misspelt rule", "w.rego", regotest.Tool(`denny contains ` + entryM + ` if input.args.path == "x"`),
		`w.rego:3:1: nothing reaches "denny" from the decision (did you mean "deny"?)`},
	{"unused helper", "w.rego", regotest.Tool(goodDeny + "\n\nhelper if input.args.path == \"y\""),
		`w.rego:5:1: nothing reaches "helper" from the decision (use it, or delete it)`},
	{"contract rule below its depth", "w.rego", "package ambit.tools.file_write.sub\n\n" + goodDeny,
		`w.rego:3:1: nothing reads deny in package ambit.tools.file_write.sub (only packages ambit.tools.<tool> and ambit.policies.<name> are part of the decision; rename it or move it)`},
	{"contract rule elsewhere", "w.rego", "package acme\n\ndeny contains 1 if true",
		`w.rego:3:1: nothing reads deny in package acme (only packages ambit.tools.<tool> and ambit.policies.<name> are part of the decision; rename it or move it)`},
	{"package above its depth", "w.rego", "package ambit.policies\n\n" + goodDeny,
		`w.rego:1:1: package ambit.policies belongs to the library (write package ambit.tools.<tool>, ambit.policies.<name> or ambit.operators)`},
	{"package of the library", "w.rego", "package ambit.gating\n\nextra := 1",
		`w.rego:1:1: package ambit.gating belongs to the library (write package ambit.tools.<tool>, ambit.policies.<name> or ambit.operators)`},
	{"misspelt member of an act", "o.rego", "package ambit.operators\n\nallow if input.actor.group == \"x\"",
		`o.rego:3:22: input.actor has no member "group" (did you mean "groups"?)`},
	{"misspelt member of an undo", "w.rego", regotest.Org(`deny contains ` + entryM + ` if input.undo.by.group == "x"`),
		`w.rego:3:68: input.undo.by has no member "group" (did you mean "groups"?)`},
	{"act that there is not", "o.rego", "package ambit.operators\n\nallow if input.act == \"delete\"",
		`o.rego:3:23: input.act is never "delete" (it is one of "see", "decide", "grant", "revoke", "undo", "cancel", "resolve", "consent_off", "audit", "archive")`},
	{"arguments of a call in the operator policy", "o.rego", "package ambit.operators\n\nallow if input.args.path == \"x\"",
		`o.rego:3:10: undefined ref: input.args.path: input.args.path; have: "args"; want (one of): ["act" "actor" "approver" "call" "dry_run" "effect" "grant" "principal" "request" "run" "session" "session_principal" "tool"] (name a member that is there)`},
	{"operator policy as a set", "o.rego", "package ambit.operators\n\nallow contains {\"code\": \"a\", \"message\": \"m\"} if input.act == \"see\"",
		`o.rego:3:1: allow of package ambit.operators is neither true nor undefined (write allow if { ... })`},
	{"operator policy with a text", "o.rego", "package ambit.operators\n\nallow := \"yes\" if input.act == \"see\"",
		`o.rego:3:1: allow of package ambit.operators is neither true nor undefined (write allow if { ... })`},
	{"wider defaults", "o.rego", "package ambit.operators\n\nby_default if input.act == \"see\"",
		`o.rego:3:1: by_default belongs to the library (give the rule another name)`},
	{"misspelt allow of the operator policy", "o.rego", "package ambit.operators\n\nalow if input.act == \"see\"",
		`o.rego:3:1: nothing reaches "alow" from the decision (did you mean "allow"?)`},
	{"unknown tool", "w.rego", "package ambit.tools.file_wrte\n\n" + goodDeny,
		`w.rego:1:1: package of the unknown tool "file_wrte" (did you mean "file_write"?)`},
	{"complete rule", "w.rego", regotest.Tool(`deny := true if input.args.path == "x"`),
		`w.rego:3:1: deny is not a set (write deny contains {"code": ..., "message": ...} if ...)`},
	{"boolean rule", "w.rego", regotest.Tool(`allow if input.args.path == "x"`),
		`w.rego:3:1: allow is not a set (write allow contains {"code": ..., "message": ...} if ...)`},
	{"default", "w.rego", regotest.Tool(`default allow := false`),
		`w.rego:3:1: allow is not a set (write allow contains {"code": ..., "message": ...} if ...)`},
	{"partial object", "w.rego", regotest.Tool(`deny["x"] := 1 if input.args.path == "x"`),
		`w.rego:3:1: deny is not a set (write deny contains {"code": ..., "message": ...} if ...)`},
	{"function", "w.rego", regotest.Tool(`deny(x) := x`),
		`w.rego:3:1: deny is not a set (write deny contains {"code": ..., "message": ...} if ...)`},
	{"set of strings", "w.rego", regotest.Tool(`deny contains "no" if input.args.path == "x"`),
		`w.rego:3:15: the entry of deny must be written as an object (write deny contains {"code": ..., "message": ...} if ...)`},
	{"variable entry", "w.rego", regotest.Tool(`deny contains e if e := ` + entryM),
		`w.rego:3:15: the entry of deny must be written as an object (write deny contains {"code": ..., "message": ...} if ...)`},
	{"misspelt member", "w.rego", regotest.Tool(`deny contains {"code": "too_big", "mesage": "m"} if input.args.path == "x"`),
		"w.rego:3:15: the entry of deny has no \"message\" (its form is {\"code\": ..., \"message\": ...})\n" +
			`w.rego:3:35: the entry of deny has no member "mesage" (did you mean "message"?)`},
	{"undeclared code", "w.rego", regotest.Tool(`deny contains {"code": "too_bigg", "message": "m"} if true`),
		"w.rego:3:24: the code \"too_bigg\" is not declared (did you mean \"too_big\"? Else add it to reasons in tools.yaml and run go generate, or to custom.reasons in the METADATA of the package)"},
	{"computed code", "w.rego", regotest.Tool(`deny contains {"code": input.args.path, "message": "m"}`),
		`w.rego:3:24: "code" of deny must be a constant string (one rule, one code: put what varies into the message)`},
	{"constant of the wrong type", "w.rego", regotest.Tool(`deny contains {"code": "too_big", "message": 1}`),
		`w.rego:3:46: "message" of deny must be a string (make a string of it: sprintf("%v", [...]))`},
	{"computed value of the wrong type", "w.rego", regotest.Tool(`deny contains {"code": "too_big", "message": count(input.args.path)}`),
		`w.rego:3:46: "message" of deny must be a string, and is a number (make a string of it: sprintf("%v", [...]))`},
	{"unknown obligation", "w.rego", regotest.Tool(`obligations contains {"code": "dance", "args": {}}`),
		`w.rego:3:31: unknown obligation "dance" (there are notify and redact_output)`},
	{"pointer", "w.rego", regotest.Tool(`modify contains {"code": "a", "pointer": "path", "value": 1}`),
		`w.rego:3:42: "path" is no JSON Pointer: it does not start with a slash (write "/path")`},
	{"pointer to nothing", "w.rego", regotest.Tool(`modify contains {"code": "a", "pointer": "/meta/ownr", "value": 1}`),
		`w.rego:3:42: pointer "/meta/ownr" leads nowhere: there is no "ownr" (did you mean "owner"?)`},
	{"timeout", "w.rego", regotest.Tool(`ask contains {"id": "a", "message": "m", "timeout": "soon"}`),
		`w.rego:3:53: timeout "soon" is not a positive duration (write such as "10m" or "36h")`},
	{"cover", "w.rego", regotest.Tool(`ask contains {"id": "a", "message": "m", "max_cover": "all"}`),
		`w.rego:3:55: unknown cover "all" (write "exact", "args" or "tool")`},
	{"quorum", "w.rego", regotest.Tool(`ask contains {"id": "a", "message": "m", "quorum": 0}`),
		`w.rego:3:52: quorum must be at least 1 (leave it out for 1)`},
	{"approvers", "w.rego", regotest.Tool(`ask contains {"id": "a", "message": "m", "approvers": "owner"}`),
		`w.rego:3:55: "approvers" of ask must be a list of strings (make a list of it: [...])`},
	{"no approvers", "w.rego", regotest.Tool(`ask contains {"id": "a", "message": "m", "approvers": []}`),
		`w.rego:3:55: approvers name nobody, so that nobody could agree (leave them out for anybody but the principal)`},
	{"id of the declaration", "w.rego", regotest.Tool(`ask contains {"id": "declared", "message": "m"}`),
		`w.rego:3:21: the id "declared" belongs to the consent that tools.yaml declares (give this ask an id of its own)`},
	{"empty id", "w.rego", regotest.Tool(`ask contains {"id": "", "message": "m"}`),
		`w.rego:3:21: the id of an ask is empty (name what the rule asks for)`},
	{"schemas annotation", "w.rego", "package ambit.tools.file_write\n\n# METADATA\n# schemas:\n#   - input: schema.ambit\n" + goodDeny,
		`w.rego:3:1: a schemas annotation in a hand-written file (delete it: the generated schema of the tool applies already)`},
	{"rule in a generated file", "ambit_gen/file_write.rego", regotest.Tool(goodDeny),
		`ambit_gen/file_write.rego:3:1: a rule in a generated file (write it into a file of your own beside ambit_gen)`},
	{"own file among the generated", "ambit_gen/x.rego", "package ambit.tools.file_write",
		`ambit_gen/x.rego: not a generated file of a declared tool (delete it, or move it out of ambit_gen)`},
	{"value that is not in the enum", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.mode == "apend"`),
		`w.rego:3:73: input.args.mode is never "apend" (it is one of "create", "append")`},
	{"list with a value that is not in the enum", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.mode in ["create", "apend"]`),
		`w.rego:3:84: input.args.mode is never "apend" (it is one of "create", "append")`},
	{"enum of the envelope", "w.rego", regotest.Org(`deny contains ` + entryM + ` if input.tool.effect != "reed"`),
		`w.rego:3:75: input.tool.effect is never "reed" (it is one of "read", "write", "destructive")`},
	{"number with a string", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.ratio > "0.1"`),
		`w.rego:3:73: input.args.ratio is a number, and it is compared with a string (write 0.1, without quotes)`},
	{"string with a number", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if 3 <= input.args.path`),
		`w.rego:3:54: input.args.path is a string, and it is compared with a number (write "3", in quotes)`},
	{"string that is not a number", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.path != 3`),
		`w.rego:3:73: input.args.path is a string, and it is compared with a number (write "3", in quotes)`},
	{"array with a set", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.tags == {"a"}`),
		`w.rego:3:73: input.args.tags is an array, and it is compared with a set (write an array, [...]: the input has no sets)`},
	{"element of an array", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.tags[_] == 1`),
		`w.rego:3:76: input.args.tags[_] is a string, and it is compared with a number (write "1", in quotes)`},
	{"member of a list of another type", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.bytes in ["1", 2]`),
		`w.rego:3:75: input.args.bytes is a number, and it is compared with a string (write 1, without quotes)`},
	{"result of a function", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if count(input.args.path) > "4"`),
		`w.rego:3:79: count(input.args.path) is a number, and it is compared with a string (write 4, without quotes)`},
	{"number by another name", "w.rego", regotest.Tool("deny contains " + entryM + " if {\n\tr := input.args.ratio\n\tr > \"0.1\"\n}"),
		`w.rego:5:6: input.args.ratio is a number, and it is compared with a string (write 0.1, without quotes)`},
	{"argument with a string that is no number for any tool", "w.rego", regotest.Org(`deny contains ` + entryM + ` if input.args.limit > "ten"`),
		`w.rego:3:73: input.args.limit is a number, and it is compared with a string (compare it with a number)`},
	{"kind of a union", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if input.args.shape.kind == "sqare"`),
		`w.rego:3:79: input.args.shape.kind is never "sqare" (it is one of "circle", "square")`},
	{"kind by another name", "w.rego", regotest.Tool("deny contains " + entryM + " if {\n\ts := input.args.shape\n\ts.kind in {\"sqare\"}\n}"),
		`w.rego:5:13: input.args.shape.kind is never "sqare" (it is one of "circle", "square")`},
	{"argument that no tool has", "w.rego", regotest.Org(`deny contains ` + entryM + ` if input.args.paht == "x"`),
		`w.rego:3:65: input.args has no member "paht", whatever the tool (did you mean "path"?)`},
	{"argument that no tool has, in a helper", "w.rego", regotest.Org("import data.acme.helpers\n\n"+`deny contains `+entryM+" if helpers.bad") + "-- helper --" + "package acme.helpers\n\nbad if input.args.paht",
		`helper.rego:3:19: input.args has no member "paht", whatever the tool (did you mean "path"?)`},
	{"pattern", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if regex.match("[", input.args.path)`),
		"w.rego:3:66: regex.match: error parsing regexp: missing closing ]: `[` (write a pattern of RE2, which has no look-around and no back-references, best in backquotes)"},
	{"pattern of replace", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if regex.replace(input.args.path, "(?=x)", "") == "x"`),
		"w.rego:3:85: regex.replace: error parsing regexp: invalid or unsupported Perl syntax: `(?=` (write a pattern of RE2, which has no look-around and no back-references, best in backquotes)"},
	{"value of the wrong type", "w.rego", regotest.Tool(`modify contains {"code": "a", "pointer": "/bytes", "value": "10"}`),
		`w.rego:3:61: the argument at "/bytes" is a number, and this value is a string (no call could run with it: write a value that fits)`},
	{"value that cannot be null", "w.rego", regotest.Tool(`modify contains {"code": "a", "pointer": "/path", "value": null}`),
		`w.rego:3:60: the argument at "/path" is a string, and this value is null (no call could run with it: write a value that fits)`},
	{"value that the enum does not have", "w.rego", regotest.Tool(`modify contains {"code": "a", "pointer": "/mode", "value": "apend"}`),
		`w.rego:3:60: the argument at "/mode" is never "apend" (it is one of "create", "append")`},
	{"computed value of the wrong kind", "w.rego", regotest.Tool(`modify contains {"code": "a", "pointer": "/path", "value": count(input.args.path)}`),
		`w.rego:3:60: the argument at "/path" is a string, and this value is a number (no call could run with it: write a value that fits)`},
	{"pointer that no tool has", "w.rego", regotest.Org(`modify contains {"code": "a", "pointer": "/paht", "value": 1}`),
		`w.rego:3:42: pointer "/paht" leads nowhere: there is no "paht" (did you mean "path"?)`},
	{"object.get of an unknown member", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if object.get(input.args, "paht", "") == "x"`),
		`w.rego:3:77: input.args has no member "paht" (did you mean "path"?)`},
	{"object.get through a reference", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if object.get(input.args, ["meta", "noot"], "") == "x"`),
		`w.rego:3:86: input.args.meta has no member "noot" (did you mean "note"?)`},
	{"fact of an unknown tool", "w.rego", regotest.Org(`deny contains ` + entryM + ` if input.run.succeeded.file_wrte`),
		`w.rego:3:74: input.run.succeeded has no tool "file_wrte" (did you mean "file_write"?)`},
	{"unknown tool's name", "w.rego", regotest.Org(`deny contains ` + entryM + ` if input.tool.name == "file_wrte"`),
		`w.rego:3:73: input.tool.name is never "file_wrte" (it is one of "file_delete", "file_read", "file_write", "web_search")`},
	{"optional member in an entry", "w.rego", regotest.Tool(`deny contains {"code": "too_big", "message": "m", "detail": input.args.bytes} if input.args.path == "x"`),
		`w.rego:3:61: input.args.bytes may be absent, and this entry would vanish with it (use object.get with a default)`},
	{"path that does not exist", "w.rego", regotest.Tool(`deny contains ` + entryM + ` if data.ambit.tools.file_read.limt`),
		`w.rego:3:81: there is no data.ambit.tools.file_read.limt`},
	{"unknown tool in the declarations", "w.rego", regotest.Org(`deny contains ` + entryM + ` if data.ambit.declared.tools.file_wrte`),
		`w.rego:3:80: there is no data.ambit.declared.tools.file_wrte (did you mean "file_write"?)`},
	{"no such data", "w.rego", regotest.Org(`deny contains ` + entryM + ` if data.acme.limit > 1`),
		`w.rego:3:59: there is no data.acme`},
}

// What is right is not refused: the type of a value may be open.
func TestLintsPass(t *testing.T) {
	for _, condition := range []string{
		`input.args.extra.x > "0.1"`, `input.args.extra.x == 1`, `input.args.extra.x.y.z`, `is_null(input.args.note)`, `input.args.path > "a"`, `input.args.limit > 3`,
		`input.args.shape.kind == "square"`, `input.args.shape.size > 3`, `regex.match("^a[b-z]$", input.args.path)`, `input.args.tags == ["a"]`,
		`object.get(input.args, "limit", 3) == 3`, `some t in input.args.tags; t == "a"`, `input.run.counts[input.tool.name] > 2`,
		`input.undo; not "oncall" in input.undo.by.groups`, `not input.undo`, `input.undo.by.id == "x"`,
	} {
		assert.NoError(t, checkDir(regotest.Dir("w.rego", regotest.Org("deny contains "+entryM+" if {\n\t"+condition+"\n}"))), condition)
	}
}

func TestLints(t *testing.T) {
	for _, test := range lints {
		t.Run(test.name, func(t *testing.T) {
			text, helper, _ := strings.Cut(test.text, "-- helper --")
			fsys := regotest.Dir(test.file, text)
			if helper != "" {
				fsys["helper.rego"] = &fstest.MapFile{Data: []byte(helper)}
			}
			err := checkDir(fsys)
			require.ErrorAs(t, err, new(policies.Diagnostics))
			assert.Equal(t, test.want, err.Error())
		})
	}
}

// What OPA's compiler finds is reported in the same form.
// SEMANTICS 3.6.4
func TestCompilerErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"syntax", regotest.Tool(`deny contains`), `^w\.rego:3:14: unexpected eof token: expected rule key term .* \(finish what was begun: a bracket, a quote or a rule\)$`},
		{"misspelt argument", regotest.Tool(`deny contains ` + entryM + ` if input.args.paht == "x"`), `^w\.rego:3:\d+: input\.args has no member "paht" \(did you mean "path"\?\)$`},
		{"misspelt envelope", regotest.Org(`deny contains ` + entryM + ` if input.tool.efect == "x"`), `^w\.rego:3:\d+: input\.tool has no member "efect" \(did you mean "effect"\?\)$`},
		{"type", regotest.Tool(`deny contains ` + entryM + ` if startswith(input.args.bytes, "x")`), `(?s)^w\.rego:3:\d+: startswith: invalid argument`},
		{"network", regotest.Tool(`deny contains ` + entryM + ` if http.send({"url": "x"})`), `^w\.rego:3:\d+: policies may not call http\.send \(a decision depends on`},
		{"clock", regotest.Tool(`deny contains ` + entryM + ` if time.now_ns() > 1`), `^w\.rego:3:\d+: policies may not call time\.now_ns \(the time of the call is input\.now_ns\)$`},
		{"random", regotest.Tool(`deny contains ` + entryM + ` if rand.intn("a", 2) == 1`), `^w\.rego:3:\d+: policies may not call rand\.intn`},
		{"schema", regotest.Tool(`deny contains ` + entryM + ` if json.match_schema({}, {})[0]`), `^w\.rego:3:\d+: policies may not call json\.match_schema`},
		{"token", regotest.Tool(`deny contains ` + entryM + ` if io.jwt.decode("x")[0]`), `^w\.rego:3:\d+: policies may not call io\.jwt\.decode \(who calls is known`},
		{"unknown function", regotest.Tool(`deny contains ` + entryM + ` if nosuch(1)`), `^w\.rego:3:\d+: undefined function nosuch$`},
		{"misspelt function", regotest.Tool(`deny contains ` + entryM + ` if coutn(input.args.path) > 1`), `^w\.rego:3:54: undefined function coutn \(did you mean "count"\?\)$`},
		{"misspelt rule", regotest.Tool(`deny contains ` + entryM + " if limitt > 1\n\nlimit := 3"), `^w\.rego:3:54: limitt is not defined \(did you mean "limit"\?\)$`},
		{"misspelt rule of another package", regotest.Tool(`deny contains ` + entryM + " if data.ambit.tools.file_write.limitt > 1\n\nlimit := 3"), `^w\.rego:3:82: there is no data\.ambit\.tools\.file_write\.limitt \(did you mean "limit"\?\)$`},
		{"nothing", "", `^w\.rego: the file is empty \(write a package, or delete it\)$`},
		{"comment", "# nothing\n", `^w\.rego: the file is empty \(write a package, or delete it\)$`},
		{"no package", "allow if true", `^w\.rego:1:1: package expected \(begin the file with`},
		{"bytes", regotest.Tool("deny contains " + entryM + " if input.args.path == \"\xff\""), `^w\.rego:3:\d+: illegal utf-8 character \(save the file as UTF-8\)$`},
		{"single quotes", regotest.Tool(`deny contains ` + entryM + ` if input.args.path == 'x'`), `^w\.rego:3:73: illegal token \(write texts in double quotes or in backquotes\)$`},
		{"said twice", regotest.Tool(`deny contains {"code" "x"}`), `^w\.rego:3:23: unexpected string token: non-terminated set \(close the bracket`},
		{"if by another name", regotest.Tool(`deny contains ` + entryM + ` iff input.args.path == "x"`), `^w\.rego:3:51: "iff" is no keyword \(did you mean "if"\?\)$`},
		{"if of a block by another name", regotest.Tool("deny contains " + entryM + " If {\n\tinput.args.path == \"x\"\n}"), `^w\.rego:3:51: "If" is no keyword \(did you mean "if"\?\)$`},
		{"if of a helper by another name", regotest.Tool(`helper iff input.args.path == "x"`), `^w\.rego:3:8: "iff" is no keyword \(did you mean "if"\?\)$`},
		{"another word for if", regotest.Tool(`helper when input.args.path == "x"`), `^w\.rego:3:8: "when" is no keyword \(after the head of a rule stands if: write name if { ... }, not when\)$`},
		{"if twice", regotest.Tool("a iff 1 == 1\n\nb iff 1 == 1"), `^w\.rego:3:3: "iff" is no keyword .*\nw\.rego:5:3: "iff" is no keyword`},
		{"no if", regotest.Tool("helper {\n\tinput.args.path == \"x\"\n}"), `^w\.rego:3:\d: .if. keyword is required before rule body \(write name if { ... }\)$`},
		{"tests in a file of another name", "package ambit.tools.file_write_test\n\ntest_x if 1 == 1", `^w\.rego:1:1: package of the unknown tool "file_write_test" \(tests stand in files named \*_test\.rego: call it w_test\.rego\)$`},
		{"unused argument", regotest.Tool("f(x) := 1\n\ndeny contains " + entryM + ` if f(1) == 1`), `^w\.rego:3:1: unused argument x \(use _`},
		{"test beside the rules", regotest.Tool(`test_x if input.args.path == "x"`), `^w\.rego:3:1: nothing reaches "test_x" from the decision \(tests stand in files named \*_test\.rego: call it w_test\.rego\)$`},
		{"null", regotest.Tool(`deny contains ` + entryM + ` if input.args.note == null`), `^w\.rego:3:\d+: match error: .* \(compare values of one type; ask is_null`},
		{"unused variable", regotest.Tool(`deny contains ` + entryM + ` if { x := 1 }`), `^w\.rego:3:\d+: assigned var x unused`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkDir(regotest.Dir("w.rego", test.text))
			require.ErrorAs(t, err, new(policies.Diagnostics))
			assert.Regexp(t, test.want, err.Error())
		})
	}
}

// Everything that is wrong is reported in one run.
// SEMANTICS 3.6.4
func TestAllErrorsAtOnce(t *testing.T) {
	err := checkDir(regotest.Dir(
		"a.rego", regotest.Tool(`denny contains 1`),
		"b.rego", regotest.Tool("deny contains 1\n\nask contains 2"),
		"c.rego", "package ambit.tools.nosuch",
	))
	assert.EqualError(t, err, `a.rego:3:1: nothing reaches "denny" from the decision (did you mean "deny"?)
b.rego:3:15: the entry of deny must be written as an object (write deny contains {"code": ..., "message": ...} if ...)
b.rego:5:14: the entry of ask must be written as an object (write ask contains {"id": ..., "message": ...} if ...)
c.rego:1:1: package of the unknown tool "nosuch" (the tools are file_delete, file_read, file_write, web_search)`)
}

// One kind of fault hides no other.
func TestFaultsHideNoOthers(t *testing.T) {
	err := checkDir(regotest.Dir(
		"a.rego", regotest.Tool("denny contains 1\n\nhelper if input.args.path == \"x\""),
		"b.rego", regotest.Tool(`deny contains {"code": "no_such", "message": "m"} if input.args.paht == "x"`),
		"c.rego", regotest.Org(`deny contains `+entryM+` if startswith(input.now_ns, "x")`),
		"d.rego", regotest.Tool(`deny contains `+entryM+` if data.acme.limit > 1`),
	))
	assert.EqualError(t, err, `a.rego:3:1: nothing reaches "denny" from the decision (did you mean "deny"?)
a.rego:5:1: nothing reaches "helper" from the decision (use it, or delete it)
b.rego:3:24: the code "no_such" is not declared (add it to reasons in tools.yaml and run go generate, or to custom.reasons in the METADATA of the package)
b.rego:3:65: input.args has no member "paht" (did you mean "path"?)
c.rego:3:54: startswith: invalid argument(s): have: (number, string); want: (search: string, base: string, result: boolean) (give the function what it wants)
d.rego:3:59: there is no data.acme`)

	err = checkDir(regotest.Dir("a.rego", regotest.Tool(`deny contains`), "b.rego", regotest.Tool(`deny contains 1`)))
	assert.ErrorContains(t, err, "a.rego:3:14", "a file that does not parse")
	assert.ErrorContains(t, err, "b.rego:3:15", "hides nothing of another")
}

// The rule that computes a wrong member is blamed, and not the first of its name.
func TestWrongTypeIsTheRules(t *testing.T) {
	good := `deny contains {"code": "too_big", "message": sprintf("%v", [input.args.path])} if input.args.path == "x"`
	bad := `deny contains {"code": "too_big", "message": count(input.args.path)} if input.args.path == "x"`
	err := checkDir(regotest.Dir("a.rego", regotest.Tool(good), "b.rego", regotest.Tool(good+"\n\n"+bad), "c.rego", regotest.Tool(good)))
	assert.EqualError(t, err, `b.rego:5:46: "message" of deny must be a string, and is a number (make a string of it: sprintf("%v", [...]))`)
}

// A file that the loader does not read is refused: it may be a misnamed policy.
func TestUnreadFiles(t *testing.T) {
	const elsewhere = "the policy folder is for *.rego, data.json, README and *.md: move it elsewhere"
	err := checkDir(regotest.Dir("freeze.reg", "", "a/FREEZE.REGO", "", "a/freeze.Rego", "", "freeze.rego.txt", "", "freeze", "", "freeze.rego~", "",
		"README", "", "README.txt", "", "notes.md", "", ".gitignore", "", ".x/y.reg", ""))
	assert.EqualError(t, err, `a/FREEZE.REGO: "FREEZE.REGO" is not read (call it FREEZE.rego)
a/freeze.Rego: "freeze.Rego" is not read (call it freeze.rego)
freeze: "freeze" is not read (`+elsewhere+`)
freeze.reg: "freeze.reg" is not read (call it freeze.rego)
freeze.rego.txt: "freeze.rego.txt" is not read (`+elsewhere+`)
freeze.rego~: "freeze.rego~" is not read (call it freeze.rego)`)
}

func TestDataFiles(t *testing.T) {
	limits := regotest.Org(`deny contains ` + entryM + ` if input.now_ns > data.acme.limits.latest`)
	err := checkDir(regotest.Dir("o.rego", limits, "acme/limits/data.json", `{"latest": 5}`))
	assert.NoError(t, err)
	for _, test := range []struct{ name, file, text, want string }{
		{"typo below data", "acme/limits/data.json", `{"lates": 5}`, `o.rego:3:86: there is no data.acme.limits.latest (did you mean "lates"?)`},
		{"below ambit", "ambit/tools/data.json", `{"file_write": {}}`, "ambit/tools/data.json: data under data.ambit would hide or replace policies (mount it elsewhere: put it into another directory, or under another key)"},
		{"ambit at the top", "data.json", `{"ambit": {}}`, "data.json: data under data.ambit would hide or replace policies (mount it elsewhere: put it into another directory, or under another key)"},
		{"not an object", "data.json", `[]`, "data.json: the top of a data file must be an object (write {\"name\": ...}, or put the file into a directory, which names it)"},
		{"not JSON", "acme/data.json", `{`, "acme/data.json: not JSON: unexpected EOF (write one JSON object)"},
		{"yaml", "acme/data.yaml", `a: 1`, `acme/data.yaml: "data.yaml" is not read (data for policies goes into a file named data.json)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkDir(regotest.Dir("o.rego", limits, test.file, test.text))
			require.Error(t, err)
			assert.Equal(t, test.want, err.Error())
		})
	}
	err = checkDir(regotest.Dir("acme/data.json", `{"limits": 1}`, "acme/limits/data.json", `2`))
	assert.EqualError(t, err, "acme/limits/data.json: data.acme.limits is given by acme/data.json:1 too (keep one of them)")
	for _, missing := range []string{"ambit_gen/ambit.schema.json", "ambit_gen/file_write.schema.json", "ambit_gen/file_write.rego"} {
		fsys := regotest.Dir()
		delete(fsys, missing)
		assert.EqualError(t, checkDir(fsys), missing+": the file is missing (run go generate)")
	}
	err = checkDir(fstest.MapFS{})
	assert.EqualError(t, err, "ambit_gen/data.json: the declarations are missing (run go generate beside tools.yaml)")
}
