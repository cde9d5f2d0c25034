// Package devtools has tools that run programs on a checkout. It has no handlers.
package devtools

import (
	"embed"
	"io/fs"
)

//go:generate go run github.com/ambit-tools/ambit/cmd/ambit generate

//go:embed policy
var policies embed.FS

// Policies holds the Rego policies that bound the tools.
func Policies() (fs.FS, error) { return fs.Sub(policies, "policy") }
