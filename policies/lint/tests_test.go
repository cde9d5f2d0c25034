package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// tests returns a file of tests of file_write that uses its imports.
func tests(body string) string {
	return "package ambit.tools.file_write_test\n\nimport data.acme.limits\nimport data.ambit.tools.file_write\n\n" + body + "\n\ntest_imports if count([limits, file_write]) == 2\n"
}

// A contract rule in a file of tests decides nothing.
func TestContractRulesInTests(t *testing.T) {
	for _, pkg := range []string{"ambit.tools.file_write", "ambit.policies.security"} {
		fsys := regotest.Dir("w_test.rego", "package "+pkg+"\n\n"+goodDeny)
		want := "w_test.rego:3:1: deny of package " + pkg + " stands in a file of tests, which decides nothing (move it into a file whose name does not end in _test.rego)"
		assert.EqualError(t, checkDir(fsys), want)
	}
	assert.NoError(t, checkDir(regotest.Dir("w_test.rego", "package ambit.tools.file_write_test\n\nask(x) := x\n\ntest_x if ask(1) == 1")))
	assert.NoError(t, checkDir(regotest.Dir("w_test.rego", "package ambit.tools.file_write\n\ntest_x if 1 == 1")))
	assert.NoError(t, checkDir(regotest.Dir("w_test.rego", "package ambit.tools.file_write\n\ntest_x if modify(1) == 1\n\nmodify(x) := x")))
	assert.ErrorContains(t, checkDir(regotest.Dir("w_test.rego", "package ambit.tools.test_it\n\nallow := 1\n\ntest_x if allow == 1")),
		"(a package of tests is called ambit.tools.<tool>_test; there is no tool test_it)")
}

// A test that never runs, or that looks at what is not there, is refused.
func TestLintsOfTests(t *testing.T) {
	policy := regotest.Tool("import data.acme.limits\n\nmany := 3\n\n" + `deny contains ` + entryM + ` if input.run.counts.file_write > limits.small + many`)
	for _, test := range []struct{ name, body, want string }{
		{"misspelt test", `tset_foo if count(file_write.deny) == 0`, `w_test.rego:6:1: "tset_foo" is no test, and no test uses it (did you mean "test_foo"?)`},
		{"name without test", `foo if count(file_write.deny) == 0`, `w_test.rego:6:1: "foo" is no test, and no test uses it (a test's name begins with test_: call it so, or delete it)`},
		{"misspelt rule", `test_foo if not file_write.dney`, `w_test.rego:6:28: there is no data.ambit.tools.file_write.dney (did you mean "deny"?)`},
		{"misspelt tool", `test_foo if not data.ambit.tools.file_wrte.deny`, `w_test.rego:6:34: there is no data.ambit.tools.file_wrte (did you mean "file_write"?)`},
		{"misspelt skipped test", `todo_foo if count(file_write.deny) == 0`, `"todo_foo" is no test, and no test uses it (did you mean "todo_test_foo"?)`},
		{"misspelt in a helper", "test_foo if not broken\n\nbroken if file_write.dney", `w_test.rego:8:22: there is no data.ambit.tools.file_write.dney`},
		{"misspelt replacement", `test_foo if count(file_write.deny) == 0 with data.ambit.tools.file_write.mny as 1`, `there is no data.ambit.tools.file_write.mny (did you mean "many"?)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := regotest.Dir("w.rego", policy, "w_test.rego", tests(test.body), "acme/data.json", `{"limits": {"small": 3}}`)
			assert.ErrorContains(t, checkDir(fsys), test.want)
			_, err := read(fsys)
			assert.NoError(t, err, "what a program loads is without its tests")
		})
	}
	for _, body := range []string{
		"test_foo if count(file_write.deny) == 0 with input as call(1)\n\ncall(n) := {\"run\": {\"counts\": {\"file_write\": n}}}",
		"todo_test_foo if helper\n\nhelper if 1 == 2",
		"test_foo[name] if some name in names\n\nnames := [\"a\"]",
		"test_foo if count(file_write.deny) == 0 with count as counted\n\ncounted(_) := 0",
		`test_foo if data.ambit.declared.tools.ghost.effect == "read" with data.ambit.declared as {"tools": {"ghost": {"effect": "read"}}}`,
		"test_foo if effect == \"read\" with data.ambit.declared.tools as {\"ghost\": {\"effect\": \"read\"}}\n\neffect := data.ambit.declared.tools.ghost.effect",
		`test_foo if limits.large == 5 with limits.large as 5`,
		`test_foo if not limits.smal`,
		`test_foo if count(file_write.deny) == 0 with data.customers as {"zoe": 1}`,
		"test_foo if fix.one.id == \"x\"\n\nfix.one.id := \"x\"\n\nfix.two.id := \"y\"",
		"test_foo if {\n\tsome t\n\tdata.ambit.declared.tools[t].consent.reason == 1 with data.ambit.declared.tools.file_read as {\"consent\": {\"reason\": 1}}\n}",
		`test_foo if file_write.many == 4 with file_write.many as 4`,
		`test_foo if count(data.ambit.gating.deny) == 0 with input as {"tool": {"name": "file_read"}}`,
	} {
		fsys := regotest.Dir("w.rego", policy, "w_test.rego", tests(body), "acme/data.json", `{"limits": {"small": 3}}`)
		assert.NoError(t, checkDir(fsys), body)
	}
}

// A test that proves nothing is refused: its condition is never false, or its input is none that a policy sees.
func TestVacuousTests(t *testing.T) {
	policy := regotest.Tool("import data.acme.limits\n\n" + `deny contains ` + entryM + ` if input.args.bytes > limits.small`)
	for _, test := range []struct{ body, want string }{
		{`test_foo if file_write.deny with input as {"args": {"bytes": 5}}`, `file_write.deny is a set, which is never false: this condition always holds (write count(file_write.deny) > 0`},
		{`test_foo if not file_write.deny with input as {"args": {"bytes": 5}}`, `not file_write.deny never holds (write count(file_write.deny) == 0)`},
		{"test_foo if {\n\tresult := file_write.deny with input as {\"args\": {\"bytes\": 5}}\n\tresult\n}", `is a set, which is never false`},
		{"test_foo if denied\n\ndenied if file_write.deny with input as {\"args\": {\"bytes\": 5}}", `is a set, which is never false`},
		{`test_foo if count(file_write.deny) with input as {"args": {"bytes": 5}}`, `count(...) is a number, which is never false`},
		{`test_foo if [d | some d in file_write.deny with input as {"args": {"bytes": 5}}]`, `is an array, which is never false`},
		{`test_foo if count(file_write.deny) == 0 with input as {"args": {"byte": 5}}`, `input.args has no member "byte", so that no call is like this (did you mean "bytes"?)`},
		{`test_foo if count(file_write.deny) == 0 with input.args as {"byte": 5}`, `input.args has no member "byte"`},
		{`test_foo if count(file_write.deny) == 0 with input.args.byte as 5`, `input.args has no member "byte"`},
		{`test_foo if count(file_write.deny) == 0 with input.arg.bytes as 5`, `input has no member "arg"`},
		{`test_foo if count(file_write.deny) == 0 with input as {"arg": {"bytes": 5}}`, `input has no member "arg"`},
		{`test_foo if count(file_write.deny) == 0 with input as {"args": {"meta": {"ownr": "x"}}}`, `input.args.meta has no member "ownr" (did you mean "owner"?)`},
		{"test_foo if count(file_write.deny) == 0 with input as call(5)\n\ncall(n) := {\"args\": {\"byte\": n}}", `input.args has no member "byte"`},
		{"test_foo if count(file_write.deny) == 0 with input as given\n\ngiven := {\"args\": {\"byte\": 5}}", `input.args has no member "byte"`},
		{"test_foo if {\n\tgiven := {\"args\": {\"byte\": 5}}\n\tcount(file_write.deny) == 0 with input as given\n}", `input.args has no member "byte"`},
		{`test_foo if count(file_write.deny) == 0 with input as {"tool": {"name": "file_read"}, "args": {"bytes": 5}}`, `input.args has no member "bytes"`},

		{`test_foo if count(file_write.deny) > 0 with input as {"args": {"bytes": 5}}`, ""},
		{`test_foo if some d in file_write.deny with input as {"args": {"bytes": 5}}`, ""},
		{`test_foo if file_write.deny == set() with input as {"args": {"bytes": 5}}`, ""},
		{`test_foo if count(file_write.deny) == 0 with input as {"tool": {"name": "invoice_pay"}, "args": {"cents": 5}}`, ""},
		{`test_foo if count(file_write.deny) == 0 with input as {"args": {"bytes": 5, "meta": {"owner": "x"}, "items": [{"name": "a"}]}, "principal": {"id": "a"}, "run": {"counts": {"file_write": 3}}}`, ""},
		{`test_foo if not limits.large with input as {"args": {"bytes": 5}}`, ""},
	} {
		fsys := regotest.Dir("w.rego", policy, "w_test.rego", tests(test.body), "acme/data.json", `{"limits": {"small": 3}}`)
		err := checkDir(fsys)
		if test.want == "" {
			assert.NoError(t, err, test.body)
		} else {
			assert.ErrorContains(t, err, strings.Replace(test.want, "\" (did", "\", so that no call is like this (did", 1), test.body)
		}
	}
}

// Tests in a file that is none are told how it must be called.
func TestTestsInOtherFiles(t *testing.T) {
	const body = "package ambit.tools.file_write_test\n\ntest_x if 1 == 1"
	assert.EqualError(t, checkDir(regotest.Dir("sub/w_tests.rego", body)),
		`sub/w_tests.rego:1:1: package of the unknown tool "file_write_test" (tests stand in files named *_test.rego: call it w_test.rego)`)
}
