// Package dsl reads the declaration of a set of tools, usually tools.yaml, into
// a checked [File] in which every node knows its position.
package dsl
