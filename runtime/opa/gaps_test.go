package opa

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

const gapPolicy = `package ambit.tools.file_write

small if input.args.path == "docs/a"

small if to_number(input.args.path) > 1

allow contains {"code": "docs", "message": "m"} if small
`

const gapTests = `package ambit.tools.file_write_test

import data.ambit.tools.file_write

test_number if file_write.small with input.args.path as "7"

test_text if file_write.small with input.args.path as "docs/a"
`

// Inspect warns of a test in which the plan gives up, naming the rule.
func TestGaps(t *testing.T) {
	found, err := Inspect(t.Context(), regotest.Dir("w.rego", gapPolicy, "w_test.rego", gapTests))
	require.NoError(t, err)
	require.Len(t, found.Warnings, 1)
	w := found.Warnings[0]
	assert.Equal(t, "plan_gives_up", w.Code)
	assert.Equal(t, "w_test.rego:7", w.File+":"+strconv.Itoa(w.Line))
	assert.Contains(t, w.Message, "data.ambit.tools.file_write_test.test_text: OPA's plan of the policies gives up in data.ambit.tools.file_write.small: ")
	assert.Contains(t, w.Excerpt, "test_text if")
}

// PrintPlan prints the statements of one rule with their places.
func TestPrintPlan(t *testing.T) {
	var out bytes.Buffer
	fsys := regotest.Dir("w.rego", gapPolicy)
	require.NoError(t, PrintPlan(t.Context(), &out, fsys, "ambit.tools.file_write.small"))
	text := out.String()
	assert.True(t, strings.HasPrefix(text, "ambit.tools.file_write.small[$0 $1] returns $2\n"), text)
	assert.Contains(t, text, "block 2")
	assert.Regexp(t, `(?m)^w\.rego:3 +Dot source=\$0 key="args" target=\$\d+$`, text)
	assert.Regexp(t, `(?m)^w\.rego:5 +Call func=to_number args=\[\$\d+\] result=\$\d+$`, text)
	err := PrintPlan(t.Context(), &out, fsys, "ambit.tools.file_write.smal")
	require.ErrorContains(t, err, `the decision has no rule "ambit.tools.file_write.smal"`)
	require.ErrorContains(t, err, "ambit.tools.file_write.small")
	require.ErrorContains(t, PrintPlan(t.Context(), &out, regotest.Dir("w.rego", "package"), "x"), "w.rego")
}
