// Package plan evaluates the decision of a policy without OPA's evaluator. OPA's own
// planner (package v1/ir, what opa build -t plan writes) says what to evaluate; Compile
// turns each statement into a Go closure once, and Eval runs the closures for each call.
//
// A plan is a shortcut and never a second opinion. [Program.Eval] has the answer that
// OPA's evaluator has, or none. An error of any kind, an undefined decision, more than
// one value, a panic, and a statement or built-in function that the package does not
// know mean that there is none; the caller then asks OPA's evaluator, whose answer or
// error stands.
//
// A plan has no rule index and no early exit, so it evaluates at least what OPA
// evaluates and meets every error that OPA meets. Adding either loses that property.
// Two limits count work instead of values: the deadline, and the memory that the guards
// of built-in functions charge. OPA, which evaluates partial rules once for each key
// that is asked for, can exceed them where a plan does not.
package plan
