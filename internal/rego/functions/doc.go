// Package functions holds the built-in functions that a policy may call: the list of
// those of OPA that are allowed, the guards that bound the memory of one call, and
// the functions of Ambit, of URLs and paths.
//
// It is a leaf below the checks, which compile with Capabilities and evaluate constants
// with Evaluated, and below the loader of runtime/opa, which decides with the same.
package functions
