package gen_test

import (
	"fmt"
	"log"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

func Example() {
	file, err := dsl.Parse("tools.yaml", []byte(`
ambit: v1
package: greet
tools:
  say_hello:
    version: 1.0.0
    description: Say hello to somebody.
    effect: read
    input: {type: object, properties: {name: {type: string, minLength: 1, description: Whom to greet.}}, required: [name]}
    output: {type: object, properties: {text: {type: string, description: The greeting.}}, required: [text]}
`))
	if err != nil {
		log.Fatal(err)
	}
	files, err := gen.Generate(file, gen.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(f.Name)
	}
	// Output:
	// tools_ambit.go
	// tools_codec_ambit.go
	// schemas/say_hello.input.json
	// schemas/say_hello.output.json
	// policy/ambit_gen/data.json
	// policy/ambit_gen/schemas.json
	// policy/ambit_gen/ambit.schema.json
	// policy/ambit_gen/policies.rego
	// policy/ambit_gen/say_hello.schema.json
	// policy/ambit_gen/say_hello.rego
}
