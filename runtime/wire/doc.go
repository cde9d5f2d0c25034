// Package wire is the strict JSON reader and writer that generated code calls.
package wire
