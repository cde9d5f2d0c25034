package dsl_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/dsl"
)

func Example() {
	_, err := dsl.Parse("tools.yaml", []byte(`
ambit: v1
package: shop
tools:
  buy:
    version: 1.0.0
    description: Buy something.
    efect: write
    input: {type: object, properties: {what: {type: string, description: What to buy.}}}
    output: {type: object}
`))
	if ds, ok := errors.AsType[dsl.Diagnostics](err); ok {
		ds.Format(os.Stdout)
	}
	// Output:
	// tools.yaml:8:5: unknown key "efect" in tool "buy"
	//     8 |     efect: write
	//       |     ^
	// hint: did you mean "effect"?
}

func ExampleParse() {
	file, err := dsl.Parse("tools.yaml", []byte(`
ambit: v1
package: shop
tools:
  buy:
    version: 1.0.0
    description: Buy something.
    effect: write
    input: {type: object, properties: {what: {type: string, description: What to buy.}}}
    output: {type: object}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range file.Tools {
		fmt.Println(tool.Name, tool.Effect, tool.Deadline, tool.Pos)
	}
	// Output: buy write 45s {tools.yaml 5 3}
}
