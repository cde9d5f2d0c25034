// Package policydir reads a policy directory: its files, the data documents, the
// generated declarations and schemas, and the parsed policies. ReadSource reads the
// files, ReadBundle parses them, and Bundle holds what the contract with the library
// of package policies says of packages, rules and entries.
//
// policies/lint checks a bundle and runtime/opa decides by one. Neither may import
// the other's internals, and an internal package below either could not be imported
// by both, so what they share is here, in the internal folder of the module. It links
// OPA and runtime/consent, whose GrantCover the declarations hold, and not runtime.
package policydir
