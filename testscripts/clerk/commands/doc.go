// Package commands declares the tools of the clerk that run programs. They are of the tier process, which every
// Unix can hold.
package commands

//go:generate go run github.com/ambit-tools/ambit/cmd/ambit generate
