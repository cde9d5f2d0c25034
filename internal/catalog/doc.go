// Package catalog says in words what the declaration of a tool says. The pages of the console and
// "ambit docs" use the same words.
//
// Texts of the declaration come as they are: who shows them escapes them.
package catalog
