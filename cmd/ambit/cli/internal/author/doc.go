// Package author holds the verbs of those who write tools: they start an application,
// check its declaration and policies, and generate its code.
package author
