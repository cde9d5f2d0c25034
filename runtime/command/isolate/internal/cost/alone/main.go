// Alone measures the cost of a box in a program that links runtime/command/isolate alone.
package main

import (
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/cost"
)

func main() {
	isolate.Enter()
	cost.Main()
}
