//go:build ambit_compare

package opa

// compareEvaluators has both evaluators make every decision, and a difference panic:
//
//	GOFLAGS=-tags=ambit_compare go test ./...
const compareEvaluators = true
