// Alone measures the cost of a box in a program that links runtime/isolate alone.
package main

import (
	"github.com/ambit-tools/ambit/runtime/isolate"
	"github.com/ambit-tools/ambit/runtime/isolate/internal/cost"
)

func main() {
	isolate.Enter()
	cost.Main()
}
