package lint_test

import (
	"fmt"
	"io/fs"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies/lint"
)

// A policy directory is the author's files and the folder ambit_gen, which ambit
// generate writes. Here a rule is misspelled.
func Example() {
	report, err := lint.Check(directory(`package ambit.tools.file_write

denny contains {"code": "system_path", "message": "below /etc"} if startswith(input.args.path, "/etc/")
`))
	if err != nil {
		panic(err)
	}
	for _, d := range report.Errors {
		fmt.Printf("%s:%d:%d: %s\n", d.File, d.Line, d.Col, d.Message)
		fmt.Println("  remedy:", d.Hint)
		fmt.Println("  line:  ", d.Excerpt)
	}
	// Output:
	// file_write.rego:3:1: nothing reaches "denny" from the decision
	//   remedy: did you mean "deny"?
	//   line:   denny contains {"code": "system_path", "message": "below /etc"} if startswith(input.args.path, "/etc/")
}

// A policy without errors may have warnings, and tools that it leaves closed.
func ExampleCheck_warnings() {
	report, err := lint.Check(directory(`package ambit.tools.file_write

deny contains {"code": "too_big", "message": "too many bytes"} if input.args.bytes > 4000
`))
	if err != nil {
		panic(err)
	}
	fmt.Println("errors:", report.Err())
	for _, d := range report.Warnings {
		fmt.Println(d.Code+":", d)
	}
	fmt.Println("closed:", report.Closed)
	// Output:
	// errors: <nil>
	// optional_member: file_write.rego:3:78: this deny does not apply when input.args.bytes is absent (write object.get(input.args, "bytes", 0), give it a default in tools.yaml, or say what is then by a rule with not input.args.bytes)
	// closed: [file_write]
}

// directory returns a policy directory with one file about the tool file_write.
func directory(policy string) fs.FS { return regotest.Dir("file_write.rego", policy) }
