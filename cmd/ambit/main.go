package main

import (
	"os"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
