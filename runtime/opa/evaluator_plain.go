//go:build !ambit_compare

package opa

const compareEvaluators = false
