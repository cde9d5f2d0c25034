package cli_test

import (
	"fmt"
	"os"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
)

func ExampleRun() {
	code := cli.Run([]string{"check", "testdata/shop"}, os.Stdin, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// testdata/shop/tools.yaml: no errors in 1 tool
	// isolation: in process: look
	// exit code 0
}
