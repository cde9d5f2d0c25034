// Linked measures the cost of a box in a program that links a host with OPA and SQLite, as
// examples/devtools does.
package main

import (
	_ "github.com/ambit-tools/ambit/runtime/host" // links them
	"github.com/ambit-tools/ambit/runtime/isolate"
	"github.com/ambit-tools/ambit/runtime/isolate/internal/cost"
)

func main() {
	isolate.Enter()
	cost.Main()
}
