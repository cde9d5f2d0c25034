package policies_test

import (
	"fmt"
	"io/fs"

	"github.com/ambit-tools/ambit/policies"
)

func Example() {
	err := fs.WalkDir(policies.FS, ".", func(name string, _ fs.DirEntry, err error) error {
		fmt.Println(name)
		return err
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// .
	// ambit.rego
	// ambit_test.rego
	// command.rego
	// command_test.rego
	// consent.rego
	// consent_test.rego
	// gating.rego
	// gating_test.rego
	// operators.rego
	// operators_test.rego
}
