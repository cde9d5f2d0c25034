// Package house holds this repository to its own rules, by tests: what the packages link that applications build on,
// that the pages fit the code and each other, that no test judges by the clock of the machine, and that each rule of the
// norm, docs/semantics.md, has a test that cites it.
package house
