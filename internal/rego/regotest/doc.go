// Package regotest holds the declarations and policies that the tests of policies/lint
// and of runtime/opa share.
package regotest
