// Package location says where a path or a URL leads, by its letters: no disk and no name server is asked. A text that programs
// read in different ways leads nowhere, so a rule or a grant about it does not hold.
package location
