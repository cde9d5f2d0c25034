// Package places says where references in policies can lead: Input is a place in the
// input of a decision, as the schemas of the tools declare it, and Data is one in data,
// as packages and data files make it. A reference whose parts vary leads to several.
package places
