package policies

import "embed"

// FS holds the library: the policies and, for `ambit policy test`, their tests.
//
//go:embed *.rego
var FS embed.FS
