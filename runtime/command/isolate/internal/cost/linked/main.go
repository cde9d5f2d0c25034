// Linked measures the cost of a box in a program that links a host with OPA and SQLite, as
// examples/devtools does.
package main

import (
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/cost"
	_ "github.com/ambit-tools/ambit/runtime/host" // links them
)

func main() {
	isolate.Enter()
	cost.Main()
}
