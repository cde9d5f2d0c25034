package main

import (
	"os"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
)

func main() {
	isolate.Enter()
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
