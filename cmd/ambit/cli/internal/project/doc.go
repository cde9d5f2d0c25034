// Package project reads what lies on disk around a declaration: the declaration
// itself, the folders of its policies, and the manifest of the files that were
// generated from it. It writes nothing.
package project
