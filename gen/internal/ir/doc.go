// Package ir is the generator's model of a declaration file, in which every
// decision has been made: Go names are chosen and known not to collide, every
// schema node has a Go type, every rule table has its values.
//
// [Build] makes the model. Package emit prints it as Go and package dynamic
// interprets it; neither decides anything, so that they cannot disagree.
//
// A schema node becomes a [Type], in the one function that chooses a [Kind].
// The kinds there are now are the typed lowering: the ones for which Go has a
// type. A keyword that no kind can enforce is an error with its position.
package ir
